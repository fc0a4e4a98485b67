/** Cures that are offered for a volume whose engine's node is dead: each that is offered is done, and has to succeed. */
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestSalvage } from '@holdfast/control/use-cases/request-salvage.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn } from '@holdfast/simulator/test-world.js';
import { World } from '@holdfast/simulator/world.js';
import { afterEach, expect, test } from '@jest/globals';

let world: World;
let client: SimClient;

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

const NODES = ['n1', 'n2', 'n3', 'n4', 'n5'] as const;
const volume = async () => {
  const view = await world.store.loadVolume(client.volumeId);
  if (view === undefined) throw new Error('the volume is there');
  return view.volume;
};
const offers = async (part: string) =>
  (await volume()).attention?.cures.some((cure) => cure.includes(part)) === true;

/** A volume with `copies` copies, attached on n1; then n1 dies, and as many other nodes with a copy of it. */
async function aVolumeWithDead(copies: number, othersDead: number): Promise<void> {
  world = new World();
  for (const name of NODES.slice(0, copies)) world.addNode(name, { diskBytes: [100 * GIB] });
  await world.run(2);
  client = await aVolumeIn(world, { numberOfReplicas: copies });
  await world.run(5);
  await attach(world, client, 'n1');
  await client.write();
  await world.run(5);
  for (const name of NODES.slice(0, 1 + othersDead)) world.node(name).kill();
  await world.run(30);
}

async function attachedElsewhere(): Promise<string> {
  const key = { volumeId: client.volumeId };
  await requestDetach(world.useCases, { ...key, force: true });
  await world.run(5);
  await requestAttach(world.useCases, { ...key, nodeId: undefined });
  await world.run(60);
  return (await volume()).lifecycle.state;
}

const CASES = [2, 3, 4, 5].flatMap((copies) =>
  Array.from({ length: copies - 1 }, (_, othersDead) => ({ copies, othersDead })),
);

test.each(CASES)(
  'of $copies copies, with $othersDead more dead, what is offered succeeds',
  async ({ copies, othersDead }) => {
    await aVolumeWithDead(copies, othersDead);
    expect((await volume()).attention?.code).toBe('HolderUnreachable');
    const isOffered = await offers('every acknowledged and flushed write is kept');
    const isSalvageOffered = await offers('then salvage it');
    expect(isOffered || isSalvageOffered).toBe(true);

    const state = await attachedElsewhere();
    expect(state === 'attached').toBe(isOffered);
    if (isOffered) return;
    expect((await volume()).attention?.code).toBe('CopiesMissing');
    expect(await offers('salvage it')).toBe(true);
    await requestSalvage(world.useCases, { volumeId: client.volumeId, replicaIds: [] });
    client.settleFor();
    await world.run(30);
    expect((await volume()).lifecycle.state).toBe('attached');
  },
);

test('of two dead nodes, the start of the agent of the other one is offered, and is enough', async () => {
  await aVolumeWithDead(3, 1);
  expect(await offers('start the agents on n2')).toBe(true);
  world.startNode('n2');
  await world.run(10);
  expect(await attachedElsewhere()).toBe('attached');
});

test('a volume of which too few copies can be reached is not shown as degraded after a forced detach', async () => {
  await aVolumeWithDead(3, 1);
  await requestDetach(world.useCases, { volumeId: client.volumeId, force: true });
  await world.run(10);
  expect((await volume()).robustness).toBe('unknown');
});
