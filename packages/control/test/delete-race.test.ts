/** A worker that stands still between deciding to delete a copy and doing so deletes only what it decided about. */
import type { AgentClient } from '@holdfast/control/ports/agent-client.js';
import type { VolumeView } from '@holdfast/control/ports/store.js';
import { removeReplica } from '@holdfast/control/reconcilers/replica-steps.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { aServedVolumeIn, aWorld, codeOf } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

let world: World;
let client: SimClient;
/** The volume as the worker saw it when it decided: the copy on node-3 had failed, and its node was back. */
let decidedOn: VolumeView;

beforeEach(async () => {
  world = await aWorld();
  client = await aServedVolumeIn(world);
  await world.run(10);
  world.node('node-3').kill();
  await world.run(15);
  await client.write();
  world.startNode('node-3');
  decidedOn = await client.view();
  expect(onNode3(decidedOn).failedAt).toBeDefined();
});

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

function onNode3({ replicas }: VolumeView): Replica {
  const replica = replicas.find(({ nodeId }) => nodeId === world.nodeId('node-3'));
  if (replica === undefined) throw new Error('node-3 has no copy');
  return replica;
}

const isHealthy = async () => (await client.view()).volume.robustness === 'healthy';
const delete3 = (agents: AgentClient) =>
  removeReplica({ ...world.reconcilers, agents }, decidedOn, {
    kind: 'remove-replica',
    replicaId: onNode3(decidedOn).id,
    nodeId: world.nodeId('node-3'),
  });

async function expectStillThere(): Promise<void> {
  const { id } = onNode3(await client.view());
  expect(world.node('node-3').copies.has(id)).toBe(true);
  expect(await isHealthy()).toBe(true);
  expect(await client.missing()).toEqual([]);
}

describe('a copy that has become current again stays', () => {
  test('when the worker stood still before it asked the agent', async () => {
    expect(await world.runUntil(isHealthy, 120)).toBe(true);
    expect(await codeOf(delete3(world.reconcilers.agents))).toBe('store.conflict');
    await expectStillThere();
  });

  test('when the worker, or the network, stood still right before the delete', async () => {
    const { agents } = world.reconcilers;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const late: AgentClient = Object.assign(Object.create(agents), {
      deleteReplica: async (...call: Parameters<AgentClient['deleteReplica']>) => {
        await held;
        return agents.deleteReplica(...call);
      },
    });
    const deletion = codeOf(delete3(late));
    expect(await world.runUntil(isHealthy, 120)).toBe(true);
    release();
    expect(await deletion).toBe('agent.refused');
    await expectStillThere();
  });
});
