/** Agents that are found to be gone, or to give no answer, before they have been silent for long. */

import type { WakeUp } from '@holdfast/control/ports/queue.js';
import type {
  AgentAnswer,
  UnresponsiveAgents,
  UnresponsiveNode,
} from '@holdfast/control/ports/unresponsive-agents.js';
import { LostAgents } from '@holdfast/control/reconcilers/find-lost-agents.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { asId, type NodeId } from '@holdfast/core/model/ids.js';
import { AGENT_GONE } from '@holdfast/core/policy/node-liveness.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { aServedVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

let world: World;
let noted: string[];
let errors: unknown[];
let woken: WakeUp[];
beforeEach(async () => {
  world = await aWorld();
  noted = [];
  errors = [];
  woken = [];
});
afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

/** As a store tells it: the row as it is now, or as it was when it was read. */
async function missed(name: string): Promise<UnresponsiveNode> {
  const { nodes } = await world.store.loadFleet(world.clusterId);
  const node = nodes.find((each) => each.name === name);
  if (node === undefined) throw new Error(`there is no ${name}`);
  return { node, at: world.clock.now() };
}

/** @param ask what comes of asking the node of this name */
function workerThatMisses(
  nodes: readonly UnresponsiveNode[],
  ask: (name: string) => Promise<AgentAnswer>,
): LostAgents {
  const ports: UnresponsiveAgents = {
    list: async (limit) => nodes.slice(0, limit),
    ask: ({ controlUrl }) => ask(nodes.find(({ node }) => node.controlUrl === controlUrl)?.node.name ?? ''),
    noteUnanswered: async ({ node }) => void noted.push(node.name),
  };
  const queue = { wake: async (wakeUp: WakeUp) => void woken.push(wakeUp) };
  return new LostAgents({ store: world.store, missed: ports, queue }, (error) => errors.push(error));
}

async function lookFor(nodes: readonly UnresponsiveNode[], answer: AgentAnswer): Promise<void> {
  const worker = workerThatMisses(nodes, async () => answer);
  await worker.look();
  await worker.settled();
}

const readyOf = async (name: string) => conditionOf((await missed(name)).node.conditions, 'Ready');
const eventsOf = (type: string) => world.store.tables.events.filter((event) => event.type === type).length;

test('a node whose agent is gone is not ready at once, and what it served is not available', async () => {
  const client = await aServedVolumeIn(world);
  const readyBefore = eventsOf('NodeReady');
  world.node('node-1').kill();
  await lookFor([await missed('node-1')], 'gone');
  expect(await readyOf('node-1')).toMatchObject({ status: 'False', reason: AGENT_GONE });
  expect(eventsOf('NodeNotReady')).toBe(1);
  await world.run(1);
  expect((await client.view()).volume.robustness).toBe('unknown');
  // A judgement that its silence is not long yet changes nothing of it.
  await world.run(4);
  expect(await readyOf('node-1')).toMatchObject({ status: 'False', reason: AGENT_GONE });
  world.node('node-1').start('boot-2');
  await world.runUntil(async () => (await readyOf('node-1'))?.status === 'True', 10);
  await world.runUntil(async () => (await client.view()).volume.robustness === 'healthy', 60);
  expect(eventsOf('NodeReady')).toBe(readyBefore + 1);
});

test('one that says nothing is noted as that, and left to its timeout: nothing else is changed or told', async () => {
  const before = await missed('node-1');
  const { changes, events } = { changes: world.store.changes, events: world.store.tables.events.length };
  await lookFor([before], 'silent');
  expect(noted).toEqual(['node-1']);
  expect((await missed('node-1')).node).toEqual(before.node);
  expect([world.store.changes, world.store.tables.events.length]).toEqual([changes, events]);
});

test('one that answers is well, however late its heartbeats are', async () => {
  await lookFor([await missed('node-1')], 'answers');
  expect(noted).toEqual([]);
  expect(await readyOf('node-1')).toMatchObject({ status: 'True' });
});

test('two workers that find it tell it once, and one that knows an older state changes nothing', async () => {
  const found = await missed('node-1');
  world.node('node-1').kill();
  await Promise.all([lookFor([found], 'gone'), lookFor([found], 'gone')]);
  expect(eventsOf('NodeNotReady')).toBe(1);
  await lookFor([found], 'gone');
  expect(eventsOf('NodeNotReady')).toBe(1);
  world.node('node-1').start('boot-2');
  await world.runUntil(async () => (await readyOf('node-1'))?.status === 'True', 10);
});

test('one that says nothing for long is asked once at a time, and holds up no look at the others', async () => {
  const hung = anAnswerToCome();
  const asked: string[] = [];
  const nodes = [await missed('node-1')];
  const worker = workerThatMisses(nodes, async (name) => {
    asked.push(name);
    return name === 'node-1' ? hung.answer : 'gone';
  });
  await worker.look();
  nodes.push(await missed('node-2'));
  world.node('node-2').kill();
  await worker.look();
  await world.runUntil(async () => (await readyOf('node-2'))?.status === 'False', 1);
  expect(asked).toEqual(['node-1', 'node-2']);
  hung.give('silent');
  await worker.settled();
  expect(noted).toEqual(['node-1']);
  nodes.pop();
  await worker.look();
  await worker.settled();
  expect(asked).toEqual(['node-1', 'node-2', 'node-1']);
  world.node('node-2').start('boot-2');
  await world.runUntil(async () => (await readyOf('node-2'))?.status === 'True', 10);
});

test('no more are asked at once than a look may list, however many looks there are', async () => {
  const { node, at } = await missed('node-1');
  const ids = Array.from({ length: 300 }, (_, n) => `${node.id.slice(0, -3)}${String(n).padStart(3, '0')}`);
  const nodes = ids.map((id) => ({ node: { ...node, id: asId<NodeId>(id) }, at }));
  const hung = anAnswerToCome();
  let asked = 0;
  const worker = workerThatMisses(nodes, () => {
    asked += 1;
    return hung.answer;
  });
  await worker.look();
  const atOnce = asked;
  nodes.reverse();
  await worker.look();
  expect([atOnce, asked]).toEqual([100, 100]);
  hung.give('answers');
  await worker.settled();
  await worker.look();
  expect(asked).toBe(200);
  await worker.settled();
});

test('what fails for one is reported, and it is asked again', async () => {
  let tries = 0;
  const worker = workerThatMisses([await missed('node-1')], async () => {
    tries += 1;
    if (tries === 1) throw new Error('no more sockets');
    return 'silent';
  });
  for (let looks = 0; looks < 2; looks += 1) {
    await worker.look();
    await worker.settled();
  }
  expect(errors).toEqual([new Error('no more sockets')]);
  expect(noted).toEqual(['node-1']);
});

function anAnswerToCome() {
  let give: (answer: AgentAnswer) => void = () => undefined;
  const answer = new Promise<AgentAnswer>((resolve) => {
    give = resolve;
  });
  return { answer, give: (what: AgentAnswer) => give(what) };
}

test('the cluster of a node that is silent for long looks at it once a second, and not before', async () => {
  const { node, at } = await missed('node-1');
  const heardMs = node.lastHeartbeatAt?.getTime() ?? at.getTime();
  const list: UnresponsiveNode[] = [];
  const worker = workerThatMisses(list, async () => 'silent');
  const wokenAfter = async (silentMs: number) => {
    list.splice(0, 1, { node, at: new Date(heardMs + silentMs) });
    await worker.look();
    await worker.settled();
    return woken.splice(0).length;
  };
  const looks = [4_900, 5_400, 5_900, 6_400, 6_900, 7_400];
  const times: number[] = [];
  for (const silentMs of looks) times.push(await wokenAfter(silentMs));
  expect(times).toEqual([0, 1, 0, 1, 0, 1]);
});
