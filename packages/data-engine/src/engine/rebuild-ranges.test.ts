import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Cluster,
  MIB,
  modes,
  rebuild,
  SIZE,
  until,
  useClusters,
  write,
} from '../../test/engine-cluster.js';
import type { ReplicaNode } from '../../test/replica-node.js';
import type { Engine } from './engine.js';

const { cluster, nodes } = useClusters();

beforeEach(async () => {
  await nodes().crashExactly();
  nodes().blockDiskBytes = 256 * MIB;
});

/** `contents` are those of the first snapshot. */
type Made = { volume: Cluster; engine: Engine; ids: string[]; contents: Buffer };

const methods = (snapshots: readonly { name: string; method: string }[]) =>
  snapshots.map(({ name, method }) => `${name.split('-')[0]} ${method}`);

describe('on block disks, layers that both sides have', () => {
  test('are left out when their checksums are equal', async () => {
    const { volume, engine, ids } = await withSnapshots();
    for (const id of ids) await engine.snapshots.hash(id, false);
    await lose(volume, engine, 1);
    const report = await rebuild(engine, volume.copy(1).address);
    expect(methods(report.snapshots)).toEqual(['s0 fast', 's1 fast', 'rebuild full']);
    await expectEqual(volume, engine);
  });

  test('are replaced when they were never hashed', async () => {
    const { volume, engine } = await withSnapshots();
    await lose(volume, engine, 1);
    const report = await rebuild(engine, volume.copy(1).address);
    expect(methods(report.snapshots)).toEqual(['s0 full', 's1 full', 'rebuild full']);
    await expectEqual(volume, engine);
  });

  test('a damaged one is found by the majority, and only what differs is read and sent', async () => {
    const { volume, engine, ids, contents } = await withSnapshots();
    for (const id of ids) await engine.snapshots.hash(id, false);
    const { node, address } = volume.copy(1);
    await damage(node, contents.subarray(5 * MIB, 5 * MIB + 4096));
    for (const id of ids) await engine.snapshots.hash(id, true);
    expect(modes(engine)).toContain('ERR');

    const asked: string[] = [];
    nodes().beforeCommand = (name) => void asked.push(name);
    const report = await rebuild(engine, address);
    expect(methods(report.snapshots).slice(0, 2)).toEqual(['s0 ranges', 's1 fast']);
    // One block of 64 KiB in the only window that was compared, and the later writes.
    expect(report.bytes.sent).toBeLessThan(3 * 65_536);
    expect(asked.filter((name) => name === 'block-hashes')).toHaveLength(1);
    for (const id of ids) await engine.snapshots.hash(id, true);
    expect(modes(engine)).not.toContain('ERR');
    await expectEqual(volume, engine);
  });

  test('are compared as a whole when the source has lost its checksums meanwhile', async () => {
    const { volume, engine, ids, contents } = await withSnapshots();
    for (const id of ids) await engine.snapshots.hash(id, false);
    const { node, address } = volume.copy(1);
    await damage(node, contents.subarray(5 * MIB, 5 * MIB + 4096));
    await engine.snapshots.hash(ids[0] ?? '', true);
    for (const { node: source } of volume.copies) {
      const { service } = source;
      const command = service.command.bind(service);
      service.command = async (replicaId, name, ask) => {
        const answer = await command(replicaId, name, ask);
        return name === 'range-sums' ? Object.assign(answer ?? {}, { sums: null }) : answer;
      };
    }
    const report = await rebuild(engine, address);
    expect(methods(report.snapshots)[0]).toBe('s0 ranges');
    await expectEqual(volume, engine);
  });
});

/** Three copies with two snapshots of 16 MiB each. */
async function withSnapshots(): Promise<Made> {
  const volume = await cluster(3);
  const engine = await volume.start(1);
  const contents = crypto.randomBytes(16 * MIB);
  const ids = [crypto.randomUUID(), crypto.randomUUID()];
  for (const [index, id] of ids.entries()) {
    await write(engine, index * 20 * MIB, index === 0 ? contents : crypto.randomBytes(16 * MIB));
    await engine.snapshots.take({ id, name: `s${index}`, origin: 'user', createdAt: '2026-01-01T00:00:00Z' });
  }
  return { volume, engine, ids, contents };
}

/** Silent corruption: the disk changes its content without a write. */
async function damage(node: ReplicaNode, block: Buffer): Promise<void> {
  const image = await fs.readFile(node.disk);
  const handle = await fs.open(node.disk, 'r+');
  for (let at = image.indexOf(block); at !== -1; at = image.indexOf(block, at + 1)) {
    await handle.write(Buffer.alloc(4096, 0xee), 0, 4096, at);
  }
  await handle.sync();
  await handle.close();
}

/** Loses a copy without a drop mark. */
async function lose(volume: Cluster, engine: Engine, index: number): Promise<void> {
  const { node, address } = volume.copy(index);
  nodes().beforeCommand = (name) => {
    if (name === 'intent') throw new StorageFault('agent.unreachable', { publicMessage: 'test' });
  };
  await node.crash(nodes(), address.replicaId);
  await write(engine, SIZE - 4096, Buffer.alloc(4096, index));
  await until(engine, () => modes(engine).includes('ERR'));
  await engine.drops.marked();
  nodes().beforeCommand = () => undefined;
}

async function expectEqual(volume: Cluster, engine: Engine): Promise<void> {
  await engine.stop();
  expect((await volume.checksums()).size).toBe(1);
}
