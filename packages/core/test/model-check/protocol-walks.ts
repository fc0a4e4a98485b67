/** Long ways by chance through the model of records, epochs and marks. */
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { copyProtocol } from './copy-protocol.js';
import type { Rule } from './protocol-rules.js';
import { type Found, walk } from './search.js';

const STEPS_MAX = 70;

type Walks = { copies: number; seed: number; walks: number; rule?: Rule };

/** @param rule the rule that is left out; without one none is */
export function walkCopyProtocol({ copies, seed, walks, rule }: Walks): Found {
  const random = new SeededRandom(seed);
  const faults = rule === undefined ? copies + 1 : 3;
  const bounds = { copies, epochs: 3, writes: 3, faults };
  return walk(copyProtocol(bounds, rule), (end) => random.below(end), walks, STEPS_MAX);
}
