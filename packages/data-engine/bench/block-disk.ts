// Benchmark of a block disk: allocation, writes with and without it, opening, and the memory of an open copy.
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BlockStore } from '@holdfast/data-engine/disk/block/block-store.js';
import { formatBlockDisk } from '@holdfast/data-engine/disk/block/format-block-disk.js';
import { Replica } from '@holdfast/data-engine/replica/replica.js';
import type { BenchOptions, Figure, Report } from './figure.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const TIB = 1024 * GIB;
/** Bytes covered by one page of a cluster map; a page of a layer's block map covers 126 MiB. */
const PAGE_COVERS_BYTES = 63 * MIB;
const EPOCH = { fua: false, epoch: 0 };

type Measured = Pick<Figure, 'metric' | 'value' | 'unit' | 'better'>;

export async function run({ report, quick }: BenchOptions): Promise<void> {
  const home = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-bench-'));
  try {
    const block = path.join(home, 'block');
    await formatBlockDisk(block, quick ? 4 * GIB : 12 * GIB);
    const folder = path.join(home, 'folder');
    await fs.mkdir(folder);
    const writtenBytes = quick ? 512 * MIB : 4 * GIB;
    const onFolder = await measure(folder, writtenBytes);
    const onBlock = await measure(block, writtenBytes);
    for (const [index, { metric, value, unit, better }] of onBlock.entries()) {
      const baseline = onFolder[index]?.value;
      report({
        bench: 'block',
        case: 'a copy on a block disk (baseline: on a folder)',
        metric,
        value,
        unit,
        baseline,
        better,
      });
    }
    await opening(report, block);
  } finally {
    await fs.rm(home, { recursive: true, force: true });
  }
}

/** The same figures in the same order for either kind of disk. */
async function measure(disk: string, writtenBytes: number): Promise<Measured[]> {
  const replica = await make(disk, 2 * writtenBytes);
  const small = crypto.randomBytes(4 * KIB);
  const count = 2000;
  // Each write goes to a part without a cluster, so each one allocates.
  const fresh = await perSecond(count, (i) =>
    replica.write(writtenBytes + i * 256 * KIB, [small], small.length, EPOCH),
  );
  const again = await perSecond(count, (i) =>
    replica.write(writtenBytes + i * 256 * KIB, [small], small.length, EPOCH),
  );
  const sinceMs = performance.now();
  await replica.flush();
  const flushMs = performance.now() - sinceMs;
  const piece = crypto.randomBytes(MIB);
  const streamed = await perSecond(writtenBytes / MIB, (i) => replica.write(i * MIB, [piece], MIB, EPOCH), 4);
  await replica.flush();
  await replica.close();
  return [
    { metric: '4 KiB writes, depth 8, where nothing was', value: fresh, unit: '1/s' },
    { metric: '4 KiB writes, depth 8, over others', value: again, unit: '1/s' },
    { metric: 'the flush after them', value: flushMs, unit: 'ms', better: 'lower' },
    { metric: '1 MiB writes, depth 4, where nothing was', value: streamed, unit: 'MiB/s' },
    {
      metric: 'memory, more than an empty copy of 1 TiB',
      value: await memoryOfMaps(disk),
      unit: 'MiB',
      better: 'lower',
    },
  ];
}

/** Memory with every page of the maps in use, by one write in each. */
async function memoryOfMaps(disk: string): Promise<number> {
  const replica = await make(disk, TIB);
  const small = crypto.randomBytes(4 * KIB);
  const before = held();
  await perSecond(Math.floor(TIB / PAGE_COVERS_BYTES), (i) =>
    replica.write(i * PAGE_COVERS_BYTES, [small], small.length, EPOCH),
  );
  await replica.flush();
  const after = held();
  await replica.close();
  return (after - before) / MIB;
}

function held(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** No other process has the disk open, so the owner table is rebuilt. */
async function opening(report: Report, disk: string): Promise<void> {
  const sinceMs = performance.now();
  const store = await BlockStore.open(disk);
  const value = performance.now() - sinceMs;
  await store.close();
  report({
    bench: 'block',
    case: 'a block disk',
    metric: 'opening it first',
    value,
    unit: 'ms',
    better: 'lower',
  });
}

async function make(disk: string, sizeBytes: number): Promise<Replica> {
  const replicaId = crypto.randomUUID();
  const volumeId = crypto.randomUUID();
  await Replica.create(disk, {
    replicaId,
    volumeId,
    diskId: volumeId,
    sizeBytes,
    secret: 'a-secret-of-sixteen',
    record: null,
  });
  const replica = await Replica.open(disk, replicaId);
  await replica.write(0, [Buffer.alloc(4 * KIB)], 4 * KIB, { fua: true, epoch: 0 });
  return replica;
}

async function perSecond(count: number, work: (index: number) => Promise<void>, depth = 8): Promise<number> {
  const sinceMs = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const mine = next;
      next += 1;
      await work(mine);
    }
  };
  await Promise.all(Array.from({ length: depth }, lane));
  return (count * 1000) / (performance.now() - sinceMs);
}
