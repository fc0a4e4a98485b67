/**
 * How many times longer something may take than on a machine that does nothing else, as jest.config.mjs has it: a machine of a CI may
 * run other work beside, at a third of its speed for a while. Limits that only keep a hang from lasting are stretched by it; a test
 * that passes is no slower.
 */
export const SLOWNESS = Number(process.env.HOLDFAST_TEST_SLOWNESS ?? 1);

/** Milliseconds that stand for this many on a machine that does nothing else. */
export const patient = (ms: number): number => ms * SLOWNESS;
