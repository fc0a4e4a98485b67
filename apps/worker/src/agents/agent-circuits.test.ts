import { describe, expect, test } from '@jest/globals';
import { AgentCircuits, SilenceError } from './agent-circuits.js';

const URL = 'http://agent:1';
const refusal = new Error('it is silent');

/** Circuits on a clock of the test's own, whose probes answer what the test says. */
function circuits() {
  const world = { nowMs: 0, isAlive: false, probes: 0, calls: 0 };
  const subject = new AgentCircuits(
    async () => {
      world.probes += 1;
      return world.isAlive;
    },
    () => world.nowMs,
  );
  const run = (call: () => Promise<string>) =>
    subject
      .run(
        URL,
        () => {
          world.calls += 1;
          return call();
        },
        () => refusal,
      )
      .catch((error: unknown) => error);
  return { world, run };
}

const answers = async () => 'answer';
const timesOut = async () => {
  throw new SilenceError('timeout');
};

describe('AgentCircuits', () => {
  test('after a call that heard nothing, others fail at once after one shared probe', async () => {
    const { world, run } = circuits();
    await run(timesOut);
    expect(await Promise.all([run(answers), run(answers), run(answers)])).toEqual([
      refusal,
      refusal,
      refusal,
    ]);
    world.nowMs += 999;
    expect(await run(answers)).toBe(refusal);
    expect(world).toMatchObject({ probes: 1, calls: 1 });
    world.nowMs += 1;
    expect(await run(answers)).toBe(refusal);
    expect(world).toMatchObject({ probes: 2, calls: 1 });
  });

  test('an agent whose probe is answered is called again, without further probes', async () => {
    const { world, run } = circuits();
    await run(timesOut);
    world.isAlive = true;
    expect(await run(answers)).toBe('answer');
    expect(await run(answers)).toBe('answer');
    expect(world).toMatchObject({ probes: 1, calls: 3 });
  });

  test('a slow call to an agent that answered others meanwhile proves no silence', async () => {
    const { world, run } = circuits();
    let end: (error: Error) => void = () => undefined;
    const slow = run(() => new Promise<string>((_, reject) => (end = reject)));
    world.nowMs = 5;
    await run(answers);
    end(new SilenceError('timeout'));
    await slow;
    expect(await run(answers)).toBe('answer');
    expect(world.probes).toBe(0);
  });

  test('a refusal or a refused connection is no silence', async () => {
    const { world, run } = circuits();
    await run(async () => {
      throw new Error('ECONNREFUSED');
    });
    expect(await run(answers)).toBe('answer');
    expect(world.probes).toBe(0);
  });
});
