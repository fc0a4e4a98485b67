import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { changeWrites } from '../../test/changed-writes.js';
import { type Cluster, MIB, modes, rebuild, until, useClusters, write } from '../../test/engine-cluster.js';
import type { ConnectControl } from '../protocol/commands.js';
import type { Engine } from './engine.js';

const { cluster, nodes } = useClusters();
const REGION = 16 * MIB;

type Gate = { readonly connectControl: ConnectControl; readonly seen: string[]; open: () => void };

describe('marks of the write-intent maps', () => {
  test('stay while an engine is opening, however long that takes', async () => {
    const volume = await cluster(2);
    await write(await volume.start(1), 0, Buffer.alloc(4096, 1));
    volume.fenceAll();
    const gate = holding('record');
    const opening = volume.start(2, { connectControl: gate.connectControl });
    while (!gate.seen.includes('record')) await sleep(5);
    const engine = volume.engines[1];
    if (engine === undefined) throw new Error('no engine');
    await idle(engine);
    expect(gate.seen).not.toContain('clear-intent');
    expect(await marks(volume, 0)).toEqual([0]);
    gate.open();
    await opening;
  });

  test('that are newer than the marker of a late message stay', async () => {
    const volume = await cluster(2);
    const gate = holding('clear-intent', 'late');
    const engine = await volume.start(1, { connectControl: gate.connectControl });
    await write(engine, 0, Buffer.alloc(4096, 1));
    await write(engine, REGION, Buffer.alloc(4096, 1));
    await cleared(engine, gate);
    await write(engine, REGION, Buffer.alloc(4096, 2));
    gate.open();
    await sleep(50);
    expect([await marks(volume, 0), await marks(volume, 1)]).toEqual([[1], [1]]);
  });

  test('of a drop are not cleared by a message from before it', async () => {
    const volume = await cluster(3);
    const gate = holding('clear-intent', 'late');
    const engine = await volume.start(1, { connectControl: gate.connectControl });
    await write(engine, 0, Buffer.alloc(4096, 1));
    await cleared(engine, gate);
    const lost = volume.copy(2);
    const client = engine.copies.find(lost.address.replicaId)?.client;
    // The message arrives when the write has ended on the others, and the engine does not know of this copy's loss
    // yet.
    const lose = async () => {
      await sleep(100);
      gate.open();
      await sleep(100);
      throw new Error('lost');
    };
    if (client !== undefined) changeWrites(client, lose);
    await write(engine, 0, Buffer.alloc(4096, 2));
    await engine.drops.marked();
    expect(modes(engine).sort()).toEqual(['ERR', 'RW', 'RW']);
    await rebuild(engine, lost.address);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('stay when a copy is dropped between the query and the message', async () => {
    const volume = await cluster(3);
    const gate = holding('intent');
    const engine = await volume.start(1, { connectControl: gate.connectControl });
    await write(engine, 0, Buffer.alloc(4096, 1));
    engine.tick(performance.now() + 20_000);
    expect(gate.seen).toContain('intent');
    volume.copy(2).node.cutOff();
    await write(engine, 0, Buffer.alloc(4096, 2));
    expect(engine.drops.isPending).toBe(true);
    gate.open();
    await engine.drops.marked();
    expect(await marks(volume, 0)).toEqual([0]);
    expect(engine.report().replicas).toHaveLength(3);
  });

  test('stay until what they cover is durable on every copy', async () => {
    const volume = await cluster(2);
    const gate = holding('none of them');
    const engine = await volume.start(1, { connectControl: gate.connectControl });
    await write(engine, 0, Buffer.alloc(4096, 1));
    const { device } = engine;
    const flush = device.flush.bind(device);
    let refusals = 0;
    engine.tick(performance.now() + 20_000);
    device.flush = async () => {
      refusals += 1;
      throw new Error('the disk refuses');
    };
    await until(engine, () => refusals > 0 || gate.seen.includes('clear-intent'));
    expect(gate.seen).not.toContain('clear-intent');
    expect([await marks(volume, 0), await marks(volume, 1)]).toEqual([[0], [0]]);
    device.flush = flush;
    await cleared(engine, gate);
  });

  test('of cold regions are cleared while others are changed', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    await write(engine, 0, Buffer.alloc(4096, 1));
    await write(engine, 2 * REGION, Buffer.alloc(4096, 1));
    let stopped = false;
    const busy = (async () => {
      while (!stopped) {
        await write(engine, REGION, Buffer.alloc(4096, 3));
        await sleep(1);
      }
    })();
    let gone = false;
    const sinceMs = performance.now();
    while (!gone && performance.now() - sinceMs < 15_000) {
      engine.tick(performance.now());
      await sleep(100);
      gone = [...(await marks(volume, 0)), ...(await marks(volume, 1))].every((region) => region === 1);
    }
    expect([await marks(volume, 0), await marks(volume, 1)]).toEqual([[1], [1]]);
    stopped = true;
    await busy;
  });

  test('are cleared at a clean stop', async () => {
    const volume = await cluster(2);
    const engine = await volume.start(1);
    await write(engine, 0, Buffer.alloc(4096, 1));
    await until(engine, () => engine.report().state === 'running');
    await engine.stop();
    expect([await marks(volume, 0), await marks(volume, 1)]).toEqual([[], []]);
  });
});

/** Control channels that hold commands of the given name; `late`: their callers have timed out by then. */
function holding(name: string, kind: 'held' | 'late' = 'held'): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const seen: string[] = [];
  const connectControl: ConnectControl = (address) => {
    const { command } = nodes().connectControl(address);
    return {
      command: async (asked, ask) => {
        seen.push(asked);
        if (asked !== name) return command(asked, ask);
        const carriedOut = opened.then(() => command(asked, ask));
        if (kind === 'held') return carriedOut;
        carriedOut.catch(() => undefined);
        throw new Error('given up');
      },
    };
  };
  return { connectControl, seen, open: () => open() };
}

async function marks(volume: Cluster, index: number): Promise<number[]> {
  const { node, address } = volume.copy(index);
  const runs = (await node.replica(address.replicaId)).intentRegions();
  return runs.flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at));
}

/** Ticks like an engine host on a volume that has been idle for long enough. */
async function idle(engine: Engine): Promise<void> {
  engine.tick(performance.now() + 20_000);
  await sleep(50);
}

/** Resolves when the engine has sent the command that clears the marks. */
async function cleared(engine: Engine, gate: Gate): Promise<void> {
  engine.tick(performance.now() + 20_000);
  await until(engine, () => gate.seen.filter((name) => name === 'clear-intent').length >= 2);
}
