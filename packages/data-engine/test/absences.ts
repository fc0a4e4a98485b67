import crypto from 'node:crypto';
import type { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { expect } from '@jest/globals';
import type { Engine } from '../src/engine/engine.js';
import { type Cluster, type Copy, MIB, rebuild, write } from './engine-cluster.js';

export const BASE_BYTES = 8 * MIB;
const BLOCK_BYTES = 4096;
/** Blocks of 4 KiB per compared block: differences are found, and sent, by 64 KiB. */
const BLOCKS_COMPARED = 16;

/** A volume whose copies come and go, with the record of what was written while each was away. */
export class Absences {
  /** Blocks of 64 KiB written during each copy's absence. */
  private readonly missed = new Map<Copy, Set<number>>();
  private readonly snapshots: string[] = [];
  /** Log of the run, for the report of a failure. */
  readonly story: string[] = [];

  constructor(
    private readonly random: SeededRandom,
    private readonly volume: Cluster,
    private readonly engine: Engine,
  ) {}

  async step(): Promise<void> {
    const kind = this.random.weighted({ write: 4, snapshot: 3, remove: 2, purge: 3, leave: 3, comeBack: 4 });
    this.story.push(kind);
    await this[kind]();
  }

  async write(): Promise<void> {
    const block = this.random.below((2 * BASE_BYTES) / BLOCK_BYTES);
    await write(this.engine, block * BLOCK_BYTES, crypto.randomBytes(BLOCK_BYTES));
    for (const missed of this.missed.values()) missed.add(Math.floor(block / BLOCKS_COMPARED));
  }

  async snapshot(): Promise<void> {
    const id = crypto.randomUUID();
    await this.engine.snapshots.take({ id, name: id, origin: 'user', createdAt: '' });
    this.snapshots.push(id);
  }

  async remove(): Promise<void> {
    const [id] = this.snapshots.splice(this.random.below(this.snapshots.length + 1), 1);
    if (id !== undefined) await this.engine.snapshots.remove(id);
  }

  async purge(): Promise<void> {
    await this.engine.snapshots.purge();
  }

  async leave(): Promise<void> {
    const here = this.volume.copies.filter((copy) => !this.missed.has(copy));
    if (here.length < 2) return;
    const copy = this.random.pick(here);
    this.missed.set(copy, new Set());
    copy.node.cutOff();
    await this.write();
    await this.engine.drops.marked();
  }

  /** @returns what was sent to the returning copy */
  async comeBack(): Promise<void> {
    const [found] = this.missed;
    if (found === undefined) return;
    const [copy, missed] = found;
    copy.node.reconnect();
    const { bytes, snapshots } = await rebuild(this.engine, copy.address);
    this.missed.delete(copy);
    const mayBeSent = missed.size * BLOCKS_COMPARED * BLOCK_BYTES;
    if (bytes.sent > mayBeSent) {
      throw new Error(`sent ${bytes.sent} where ${mayBeSent} were missed: ${JSON.stringify(snapshots)}`);
    }
  }

  async end(): Promise<void> {
    while (this.missed.size > 0) await this.comeBack();
    await this.engine.stop();
    expect((await this.volume.checksums()).size).toBe(1);
  }
}
