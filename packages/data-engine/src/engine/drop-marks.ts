/**
 * Drop marks: a system layer that is frozen on the remaining copies right after a copy was dropped (docs/adr/0090-drop-marks.md).
 * Everything the dropped copy misses is in the layers above it, or in regions that were being written at that moment;
 * so a returning copy needs only those.
 *
 * Without a mark, or with one that can't be trusted, the returning copy is compared as a whole. A missing mark is
 * never taken as proof that nothing changed.
 */
import crypto from 'node:crypto';
import { isSetBack, type RecordNumber } from '@holdfast/core/model/copy-record.js';
import { SYSTEM_TIME, type Time } from '../base/time.js';
import type { DropMark } from '../protocol/layers.js';
import type { Copies } from './copies.js';
import { freezeAll } from './freeze.js';
import type { VolumeDevice } from './volume-device.js';

/**
 * Maximum runs of regions in a mark. A mark with more would be larger than what it saves: the whole copy is then
 * compared.
 */
const RUNS_MAX = 4096;

function newestOf(since: readonly RecordNumber[]): Pick<DropMark, 'sinceEpoch' | 'sinceGeneration'> {
  const newest = since.reduce((a, b) => (isSetBack(a, b) ? b : a));
  return { sinceEpoch: newest.epoch, sinceGeneration: newest.dataGeneration };
}

export class DropMarks {
  private readonly pending = new Map<string, RecordNumber>();
  private marking: Promise<void> | undefined;

  constructor(
    private readonly copies: Copies,
    private readonly device: Pick<VolumeDevice, 'exclusive' | 'sizeBytes'>,
    private readonly epoch: number,
    /** Resolves when resync is done: before that, a frozen layer would not read the same on all copies. */
    private readonly equal: () => Promise<void>,
    private readonly time: Time = SYSTEM_TIME,
  ) {}

  /** True while a drop is not marked yet. Until then the copies must keep their write-intent marks. */
  get isPending(): boolean {
    return this.pending.size > 0;
  }

  /**
   * @param sinceEpoch the epoch of the last record that the copy is known to hold
   * @param durable the newest record that the copy is known to have stored: with an older one it was set back
   */
  note(replicaId: string, sinceEpoch: number, durable?: RecordNumber): void {
    const first = { epoch: sinceEpoch, dataGeneration: 0 };
    this.pending.set(replicaId, durable !== undefined && isSetBack(first, durable) ? durable : first);
    this.marking ??= this.run().finally(() => {
      this.marking = undefined;
    });
  }

  /** Resolves when no mark is being made. */
  async marked(): Promise<void> {
    await this.marking;
  }

  private async run(): Promise<void> {
    while (this.pending.size > 0) {
      try {
        await this.equal();
        await this.copies.membership.recordDurable();
        await this.device.exclusive(() => this.mark());
      } catch {
        // The engine stops, or no copy answers: drops without a mark need a comparison of the whole copy.
        this.pending.clear();
      }
    }
  }

  private async mark(): Promise<void> {
    const dropped = [...this.pending];
    const marked = await this.regions();
    for (const [replicaId] of dropped) this.pending.delete(replicaId);
    if (marked === undefined || marked.regions.length > RUNS_MAX) return;
    const drop: DropMark = {
      ...marked,
      replicaIds: dropped.map(([replicaId]) => replicaId).sort(),
      ...newestOf(dropped.map(([, since]) => since)),
    };
    await freezeAll(this.copies, this.epoch, {
      sizeBytes: this.device.sizeBytes,
      layer: {
        id: crypto.randomUUID(),
        name: `drop-${drop.replicaIds[0]}`,
        origin: 'system',
        createdAt: this.time.date().toISOString(),
        drop,
      },
    });
  }

  /**
   * The regions that any copy was writing: the dropped copy may have those writes, or not. `undefined` if a copy does
   * not answer.
   */
  private async regions(): Promise<Pick<DropMark, 'regions' | 'regionBytes'> | undefined> {
    const answers = await Promise.all(
      this.copies
        .withMode('RW')
        .map(({ control }) => control.command('intent', { epoch: this.epoch }).catch(() => undefined)),
    );
    const runs = new Map<number, number>();
    let regionBytes = 0;
    for (const answer of answers) {
      if (answer === undefined) return undefined;
      regionBytes = answer.regionBytes;
      for (const [first, count] of answer.regions) runs.set(first, Math.max(runs.get(first) ?? 0, count));
    }
    return { regionBytes, regions: [...runs].sort(([a], [b]) => a - b) };
  }
}
