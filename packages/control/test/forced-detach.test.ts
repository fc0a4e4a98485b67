/** A forced detach waits for no node, and a takeover not for one that is silent while others answer. */
import { once } from 'node:events';
import type { AgentClient, AgentTarget } from '@holdfast/control/ports/agent-client.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { aServedVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

/** Real time for some ticks of the simulated world, which take milliseconds unless a call holds them up. */
const STUCK_MAX_MS = 20_000;

let world: World;
let client: SimClient;
/** Calls to node-1 that were never answered. */
let unanswered: string[];

beforeEach(async () => {
  world = await aWorld();
  client = await aServedVolumeIn(world);
  await world.run(30);
  unanswered = [];
});

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

/** Its agent goes on beating, takes calls, and never answers these. */
function hang(methods: readonly (keyof AgentClient)[]): void {
  const { agents } = world.reconcilers;
  const nodeId = world.nodeId('node-1');
  const hanging = new Proxy(agents, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (agent: AgentTarget, ...args: unknown[]) => {
        const isHung = agent.id === nodeId && methods.some((method) => method === name);
        if (!isHung) return Reflect.apply(value, target, [agent, ...args]);
        unanswered.push(String(name));
        return new Promise(() => undefined);
      };
    },
  });
  world.reconcilers = { ...world.reconcilers, agents: hanging };
}

const volume = async () => (await client.view()).volume;

async function takeOver(): Promise<void> {
  const { volumeId } = client;
  await requestDetach(world.useCases, { volumeId, force: true });
  const detached = world.runUntil(async () => (await volume()).lifecycle.state === 'detached', 5);
  expect(await inTime(detached)).toBe(true);
  await requestAttach(world.useCases, { volumeId, nodeId: world.nodeId('node-2') });
  expect(await world.runUntil(async () => (await volume()).lifecycle.state === 'attached', 6)).toBe(true);
}

describe('when the holder does not answer', () => {
  test('a forced detach asks it for a moment, and another node takes over with the copies that answer', async () => {
    hang(['stopEngine', 'openReplica', 'startEngine']);
    await takeOver();
    expect(unanswered).toContain('stopEngine');
    expect(unanswered).toContain('openReplica');
    expect(await client.write()).toBe(true);
    expect(await client.missing()).toEqual([]);
  });

  test('a forced detach does not wait behind a step that waits for the holder', async () => {
    hang(['stopEngine', 'openReplica']);
    await requestDetach(world.useCases, { volumeId: client.volumeId });
    // This tick's work ends only because the detach is forced meanwhile.
    const stuck = world.run(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(unanswered).toEqual(['stopEngine']);
    await requestDetach(world.useCases, { volumeId: client.volumeId, force: true });
    await inTime(stuck);
    expect((await volume()).lifecycle.state).toBe('detached');
  });
});

/** @throws Error where the work waits for a call that is never answered: the test is to fail then, not to hang */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(STUCK_MAX_MS);
  const isLate = once(late, 'abort').then(() => {
    throw new Error('it waits for a call that is never answered');
  });
  return Promise.race([work, isLate]);
}
