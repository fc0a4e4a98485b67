/** A search for the night: plans of drains come true on more clusters by chance than `drain-plan.test.ts` tries. */
import { test } from '@jest/globals';
import { drainByChance } from './planned-drains.js';

const FIRST = 11;
const LAST = 30;
const SEEDS = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index);

test.each(SEEDS)('what a drain does is what its plan said, cluster %i', drainByChance);
