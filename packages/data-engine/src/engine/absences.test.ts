import crypto from 'node:crypto';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { describe, expect, test } from '@jest/globals';
import { type Cluster, type Copy, MIB, rebuild, useClusters, write } from '../../test/engine-cluster.js';
import type { Engine } from './engine.js';

const { cluster } = useClusters();
const BASE_BYTES = 8 * MIB;
const BLOCK_BYTES = 4096;
/** Blocks of 4 KiB per compared block: differences are found, and sent, by 64 KiB. */
const BLOCKS_COMPARED = 16;
const STEPS = 30;

/** A volume whose copies come and go, with the record of what was written while each was away. */
class Absences {
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

describe('a copy that was away', () => {
  test('gets nothing that was not written meanwhile, though its layers were merged on the others', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(BASE_BYTES));
    const absences = new Absences(new SeededRandom(1), volume, engine);
    for (let round = 0; round < 3; round += 1) {
      await absences.leave();
      await absences.comeBack();
    }
    await absences.end();
  });

  test.each([1, 2, 3, 4, 32, 34])(
    'gets no more than that on any way (seed %i)',
    async (seed) => {
      const volume = await cluster(3);
      const engine = await volume.start(1);
      await write(engine, 0, crypto.randomBytes(BASE_BYTES));
      const absences = new Absences(new SeededRandom(seed), volume, engine);
      try {
        for (let i = 0; i < STEPS; i += 1) await absences.step();
        await absences.end();
      } catch (error) {
        throw new Error(`after ${absences.story.join(', ')}: ${String(error)}`, { cause: error });
      }
    },
    60_000,
  );
});
