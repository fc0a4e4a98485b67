/**
 * Runs engines, copies and disks of one volume in virtual time, by seed (docs/adr/0128): all promises hold whatever happens,
 * and with a rule broken on purpose some seed finds it.
 */
import { expect, test } from '@jest/globals';
import { compile, search } from './simulation/runner.mjs';

const SEEDS = 150;
const TIMEOUT_MS = 300_000;

test(
  `nothing acknowledged is lost in ${SEEDS} lives of a volume`,
  async () => {
    const folder = compile();
    const { seeds, failures } = await search({ folder, first: 1, last: SEEDS });
    const [first] = failures;
    expect(first && `${first.failure}\n${first.story.join('\n')}`).toBeUndefined();
    expect(seeds).toBe(SEEDS);
  },
  TIMEOUT_MS,
);
