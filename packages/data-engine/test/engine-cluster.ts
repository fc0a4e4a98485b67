/**
 * Test cluster: engines over real replicas, with real files, real NBD and real control commands, all in the test's
 * process. Everything that a test started is stopped at its end.
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RebuildOptions, RebuildReport, ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import { planLayers } from '@holdfast/core/rebuild/plan-layers.js';
import { afterEach, beforeEach, expect } from '@jest/globals';
import { replicaDirectory } from '../src/disk/folder/replica-files.js';
import { Engine } from '../src/engine/engine.js';
import type { EngineDependencies } from '../src/engine/engine-state.js';
import { contiguous } from '../src/nbd/export.js';
import { type ReplicaNode, ReplicaNodes } from './replica-node.js';

export const MIB = 1024 * 1024;
export const SIZE = 64 * MIB;

export type Copy = { node: ReplicaNode; address: ReplicaAddress };

export const OPTIONS: RebuildOptions = {
  purgesFirst: true,
  fastRebuild: true,
  blockHash: 'blake3',
  sourcesMax: 1,
  bandwidthBytesPerSecond: null,
};

/** One volume with its copies, each on a node of its own. */
export class Cluster {
  readonly confirmed: CopyRecord[] = [];
  /** Includes engines whose start has not ended. */
  readonly engines: Engine[] = [];

  private constructor(
    readonly nodes: ReplicaNodes,
    readonly volumeId: VolumeId,
    readonly copies: Copy[],
    readonly record: CopyRecord,
    readonly sizeBytes: number,
  ) {}

  static async create(nodes: ReplicaNodes, count: number, sizeBytes = SIZE): Promise<Cluster> {
    const volumeId = asId<VolumeId>(crypto.randomUUID());
    const ids = Array.from({ length: count }, () => asId<ReplicaId>(crypto.randomUUID())).sort();
    const record = { epoch: 0, dataGeneration: 0, members: ids };
    const copies: Copy[] = [];
    for (const replicaId of ids) {
      const node = await nodes.add(`node-${replicaId.slice(0, 8)}`);
      copies.push({ node, address: await node.create({ replicaId, volumeId, sizeBytes, record }) });
    }
    return new Cluster(nodes, volumeId, copies, record, sizeBytes);
  }

  copy(index: number): Copy {
    const found = this.copies[index];
    if (found === undefined) throw new Error(`no copy ${index}`);
    return found;
  }

  async start(
    epoch: number,
    over: Partial<EngineDependencies> & {
      replicas?: ReplicaAddress[];
      record?: CopyRecord;
      sizeBytes?: number;
      grantId?: string;
      replicaTimeoutMs?: number;
      /** Interval of ticks from the engine's creation on, as by a host process's timer. */
      ticksEveryMs?: number;
    } = {},
  ): Promise<Engine> {
    const engine = new Engine(
      {
        volumeId: this.volumeId,
        volumeName: 'vol',
        epoch,
        grantId: over.grantId,
        sizeBytes: over.sizeBytes ?? this.sizeBytes,
        attachmentSecret: 'sixteen-characters',
        record: over.record ?? this.record,
        replicas: over.replicas ?? this.copies.map(({ address }) => address),
        replicaTimeoutMs: over.replicaTimeoutMs ?? 2000,
      },
      {
        connectControl: this.nodes.connectControl,
        confirmRecord: async (next) => void this.confirmed.push(next),
        planLayers,
        onChange: () => undefined,
        ...over,
      },
    );
    this.engines.push(engine);
    if (over.ticksEveryMs !== undefined) this.tickUntilStopped(engine, over.ticksEveryMs);
    await engine.open();
    return engine;
  }

  private tickUntilStopped(engine: Engine, everyMs: number): void {
    const timer = setInterval(() => {
      if (engine.copies.stopReason === undefined) engine.tick(performance.now());
      else clearInterval(timer);
    }, everyMs);
    timer.unref();
  }

  /** Adds an empty copy on a node of its own. */
  async addCopy(name: string): Promise<Copy> {
    const node = await this.nodes.add(name);
    const { volumeId, sizeBytes } = this;
    const replicaId = crypto.randomUUID();
    const address = await node.create({ replicaId, volumeId, sizeBytes, record: null });
    const copy = { node, address };
    this.copies.push(copy);
    return copy;
  }

  /** Checksums of all reachable copies; a single one if they are equal. The engine must have released them. */
  async checksums(): Promise<Set<string>> {
    const all = await Promise.all(
      this.copies
        .filter(({ node }) => node.isAlive)
        .map(async ({ node, address }) => (await node.service.checksum(address.replicaId)).checksum),
    );
    return new Set(all);
  }

  fenceAll(): void {
    for (const engine of this.engines) {
      engine.fence(new StorageFault('engine.not_found', { publicMessage: 'test ends' }));
    }
  }
}

/** Clusters for the tests of one file; each test begins without any. */
export function useClusters(): {
  nodes: () => ReplicaNodes;
  cluster: (count: number, sizeBytes?: number) => Promise<Cluster>;
} {
  let nodes: ReplicaNodes;
  let clusters: Cluster[];
  beforeEach(() => {
    nodes = new ReplicaNodes();
    clusters = [];
  });
  afterEach(async () => {
    for (const cluster of clusters) cluster.fenceAll();
    await nodes.stop();
  });
  return {
    nodes: () => nodes,
    cluster: async (count, sizeBytes) => {
      const made = await Cluster.create(nodes, count, sizeBytes);
      clusters.push(made);
      return made;
    },
  };
}

export async function write(engine: Engine, offset: number, data: Buffer): Promise<void> {
  await engine.device.write(offset, [data], data.length, { fua: false });
}

/** Bytes per read: some tests compare more than NBD's bound for one request. */
const READ_BYTES = 16 * MIB;

export async function read(engine: Engine, offset: number, lengthBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let done = 0; done < lengthBytes; done += READ_BYTES) {
    const length = Math.min(READ_BYTES, lengthBytes - done);
    parts.push(contiguous(await engine.device.read(offset + done, length)));
  }
  return Buffer.concat(parts);
}

/** Compares without printing millions of bytes when they differ. */
export async function expectBytes(engine: Engine, offset: number, expected: Buffer): Promise<void> {
  const held = await read(engine, offset, expected.length);
  const at = held.findIndex((byte, index) => byte !== expected[index]);
  expect({ differsAt: held.equals(expected) ? undefined : offset + at }).toEqual({ differsAt: undefined });
}

export const modes = (engine: Engine) => engine.report().replicas.map(({ mode }) => mode);

/** Rebuilds a copy and waits for the end. */
export async function rebuild(
  engine: Engine,
  target: ReplicaAddress,
  options: Partial<RebuildOptions> = {},
): Promise<RebuildReport> {
  engine.startRebuild({
    rebuildId: crypto.randomUUID(),
    target,
    sourceReplicaIds: [],
    options: { ...OPTIONS, ...options },
  });
  await until(engine, () => engine.report().rebuilds.at(-1)?.state !== 'running');
  const report = engine.report().rebuilds.at(-1);
  expect(report).toMatchObject({ state: 'succeeded', error: null });
  if (report === undefined) throw new Error('no rebuild is reported');
  return report;
}

/** Flips bytes in the middle of all data files of a copy. */
export function damageLayers(node: ReplicaNode, replicaId: string): void {
  const directory = replicaDirectory(node.disk, replicaId);
  for (const name of fs.readdirSync(directory).filter((file) => file.endsWith('.img'))) {
    const file = fs.openSync(path.join(directory, name), 'r+');
    fs.writeSync(file, Buffer.alloc(4096, 0xee), 0, 4096, 4 * MIB);
    fs.closeSync(file);
  }
}

/** Waits until the engine's report satisfies the condition. */
export async function until(engine: Engine, condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 300_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`never came: ${JSON.stringify(engine.report())}`);
    await sleep(20);
  }
}
