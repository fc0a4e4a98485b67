/** Long ways by chance through the model of drop marks. */
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { type DropBounds, type DropRule, dropMarks } from './drop-marks.js';
import { type Found, walk } from './search.js';

const STEPS_MAX = 60;

type Walks = { copies: number; faults: number; seed: number; walks: number; rule?: DropRule };

/** @param rule the rule that is left out; without one none is */
export function walkDropMarks({ copies, faults, seed, walks, rule }: Walks): Found {
  const random = new SeededRandom(seed);
  const bounds: DropBounds = { copies, epochs: 3, writes: 4, layers: 5, faults };
  return walk(dropMarks(bounds, rule), (end) => random.below(end), walks, STEPS_MAX);
}
