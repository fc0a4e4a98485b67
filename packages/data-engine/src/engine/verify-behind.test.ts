import crypto from 'node:crypto';
import { eventually } from '@holdfast/testkit/eventually.js';
import { describe, expect, jest, test } from '@jest/globals';
import { MIB, rebuild, useClusters, write } from '../../test/engine-cluster.js';
import { Layer } from '../layers/layer.js';
import { NbdClient } from '../nbd/client.js';

const { cluster, nodes } = useClusters();
/** Two parts, of which a rebuild verifies one while it copies the other. */
const SIZE = 256 * MIB;
const IN_SECOND_PART = 200 * MIB;

async function aboutToRebuild() {
  const volume = await cluster(2, SIZE);
  const engine = await volume.start(1);
  return { volume, engine };
}

describe('a full rebuild', () => {
  test('verifies one part while it copies the next', async () => {
    const { volume, engine } = await aboutToRebuild();
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    await write(engine, IN_SECOND_PART, crypto.randomBytes(MIB));
    const target = await volume.addCopy('target');
    let firstAsked: () => void = () => undefined;
    const isFirstAsked = new Promise<void>((resolve) => {
      firstAsked = resolve;
    });
    nodes().beforeCommand = (name) => {
      if (name === 'hashes') firstAsked();
    };
    const { readEachInto } = NbdClient.prototype;
    const held = jest.spyOn(NbdClient.prototype, 'readEachInto');
    let isHeld = false;
    held.mockImplementation(async function (this: NbdClient, reads) {
      // Never answered by a rebuild that first copies all of it.
      const isOfSecondPart = reads.some(({ offset }) => offset === IN_SECOND_PART);
      isHeld ||= isOfSecondPart;
      if (isOfSecondPart) await isFirstAsked;
      return readEachInto.call(this, reads);
    });
    try {
      await rebuild(engine, target.address);
    } finally {
      held.mockRestore();
    }
    expect(isHeld).toBe(true);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });

  test('reads each whole window from the disk of its source once, and back from its own', async () => {
    const { volume, engine } = await aboutToRebuild();
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    const target = await volume.addCopy('target');
    const read = jest.spyOn(Layer.prototype, 'readPacked');
    await rebuild(engine, target.address);
    const layers = new Set(read.mock.contexts);
    const counts = [...layers].map((layer) => read.mock.contexts.filter((one) => one === layer).length);
    read.mockRestore();
    expect(counts).toEqual([2, 2]);
  });

  test('gives each source and its target the same checksums, those of its ranges included', async () => {
    nodes().blockDiskBytes = 2 * SIZE;
    const { volume, engine } = await aboutToRebuild();
    await write(engine, 0, crypto.randomBytes(8 * MIB));
    await write(engine, 9 * MIB, crypto.randomBytes(MIB));
    const target = await volume.addCopy('target');
    await rebuild(engine, target.address);
    const [source] = volume.copies;
    const told = await Promise.all(
      [source, target].map(async (copy) => {
        const { replica } = (await copy?.node.service.find(copy.address.replicaId)) ?? {};
        const frozen = replica?.metadata.layers.slice(0, -1) ?? [];
        return Promise.all(
          frozen.map(async ({ id, checksum }) => ({
            value: checksum?.value,
            ranges: (await replica?.ranges.read(id, 0, 10))?.toString('hex'),
          })),
        );
      }),
    );
    expect(told[0]).toEqual(told[1]);
    expect(told[0]?.at(-1)).toEqual({
      value: expect.stringMatching(/^\w{64}$/),
      ranges: expect.stringMatching(/^(?!0{32})\w{256}0{32}(?!0{32})\w{32}$/),
    });
  });

  test('is cancelled while a source does not say what it sent', async () => {
    const { volume, engine } = await aboutToRebuild();
    await write(engine, 0, crypto.randomBytes(4 * MIB));
    const target = await volume.addCopy('target');
    let asked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    nodes().beforeCommand = (name) => {
      if (name !== 'hashes') return undefined;
      asked();
      return new Promise(() => undefined);
    };
    const rebuildId = crypto.randomUUID();
    engine.startRebuild({ rebuildId, target: target.address, sourceReplicaIds: [] });
    await isAsked;
    await engine.cancelRebuild(rebuildId);
    expect(engine.report().rebuilds[0]).toMatchObject({ error: { code: 'rebuild.cancelled' } });
  });
});

describe('a delta rebuild', () => {
  test('reads the copy of its target before the source has answered', async () => {
    const volume = await cluster(2, SIZE);
    const old = await volume.start(1);
    await write(old, 0, crypto.randomBytes(8 * MIB));
    const { record } = old.report();
    await old.stop();
    const engine = await volume.start(2, { record, replicas: [volume.copy(0).address] });
    await write(engine, 0, crypto.randomBytes(4096));
    const hashed = jest.spyOn(Layer.prototype, 'readRuns');
    let isHeld = false;
    nodes().beforeCommand = async (name) => {
      if (name !== 'block-hashes') return;
      isHeld = true;
      // Never answered by a rebuild that waits for its source first.
      await eventually(
        'a read of the target',
        () => hashed.mock.calls.length,
        (count) => count > 0,
      );
    };
    try {
      const report = await rebuild(engine, volume.copy(1).address, { fastRebuild: false });
      expect(report.snapshots.map(({ method }) => method)).toContain('delta');
    } finally {
      hashed.mockRestore();
    }
    expect(isHeld).toBe(true);
    await engine.stop();
    expect((await volume.checksums()).size).toBe(1);
  });
});
