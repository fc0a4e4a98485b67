/**
 * Membership of a volume's copies: keeps the record of which copies are current ahead of what the engine acknowledges
 * (docs/adr/0004-copy-records.md).
 *
 * Whenever the copies in use differ from the last record, a new record is written to all of them; until that is done
 * nothing is acknowledged (`recordDurable`). The engine may leave out copies alone only while more than half of every
 * record that some copy may hold remain; otherwise the control plane has to record the new members first.
 *
 * After a crash at any point the rule "copies named in the highest record are current" holds, because nothing was
 * acknowledged under a record before all its members had it.
 */
import {
  type CopyRecord,
  compareRecords,
  copyRecord,
  mayShrinkAlone,
  type RecordNumber,
} from '@holdfast/core/model/copy-record.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import { SYSTEM_TIME, type Time } from '../base/time.js';

/** Pause between attempts to reach the control plane while I/O waits for it; grows up to the maximum. */
const CONFIRM_PAUSE_MIN_MS = 200;
const CONFIRM_PAUSE_MAX_MS = 5_000;
const PAUSE_STEP_MS = 100;

export interface MembershipPorts {
  /** Ids of the copies that have to be members now. */
  wantedMembers(): ReplicaId[];
  /** Resolves when copies that the next record is to leave out were asked whether a newer engine has opened them, or soon after. */
  askLeftOut(): Promise<void>;
  /** Writes the record to one copy. @throws when the copy did not store it. */
  writeRecord(replicaId: string, record: CopyRecord): Promise<void>;
  /** Called when a copy could not store the record: it has to be dropped. */
  memberFailed(replicaId: string, error: unknown): void;
  /** Asks the control plane to record the members. @throws `engine.stale_epoch` when something newer took over. */
  confirmRecord(record: CopyRecord): Promise<void>;
  /** Called when a newer engine has taken over, or no copy is left. */
  stop(error: unknown): void;
  stopped(): boolean;
  changed(): void;
  readonly time?: Time;
}

export class Membership {
  private durable: CopyRecord;
  /** Records newer than `durable` that some copy may have stored. */
  private attempted: CopyRecord[] = [];
  private generation = 0;
  /** The newest record that is known to be stored on all its members; each further record carries its number. */
  private completed: RecordNumber | undefined;
  private running: Promise<void> | undefined;
  /** Set when the copies in use changed after the running pass read them; the pass repeats. */
  private requested = false;
  /** True while I/O waits for the control plane. */
  waiting = false;

  constructor(
    private readonly epoch: number,
    found: CopyRecord,
    private readonly ports: MembershipPorts,
  ) {
    this.durable = found;
    this.completed = found.durable;
  }

  get complete(): RecordNumber | undefined {
    return this.completed;
  }

  /** The newest record that all its members have stored. */
  get record(): CopyRecord {
    return this.durable;
  }

  /**
   * Writes the first record of this attachment. Its members were chosen by the quorum rule for attaching, not the one
   * for shrinking.
   *
   * With exactly half of the last members, another engine may hold the other half: two can be started if the database
   * lost the grant of one. Only the control plane can decide which one goes on, and records that first.
   */
  async establish(): Promise<void> {
    const { members: found } = this.durable;
    const record = this.nextRecord(this.wanted());
    if (!mayShrinkAlone(found, record.members) && !(await this.confirm(record))) return;
    this.durable = record;
    this.attempted = [record];
    await this.store(record);
    // If a copy failed, the others go on by the shrinking rule, which counts from this record.
    await this.update();
  }

  /**
   * Numbers records above the given one: an interrupted start, or a stop that was not recorded, has left records of
   * this epoch on copies.
   */
  goOnAbove({ epoch, dataGeneration }: RecordNumber): void {
    if (epoch === this.epoch) this.generation = Math.max(this.generation, dataGeneration);
  }

  /** Sets the baseline from the records that the first copies hold: all of them have stored the oldest of these. */
  beginWith(stored: readonly RecordNumber[]): void {
    const [first, ...others] = stored;
    if (first === undefined) return;
    const oldest = others.reduce((least, one) => (compareRecords(one, least) < 0 ? one : least), first);
    if (this.completed === undefined || compareRecords(oldest, this.completed) > 0) {
      const { epoch, dataGeneration } = oldest;
      this.completed = { epoch, dataGeneration };
    }
  }

  /** Writes a new record if the copies in use have changed. */
  update(): Promise<void> {
    this.requested = true;
    this.running ??= this.run();
    return this.running;
  }

  get isRecordDurable(): boolean {
    return this.running === undefined;
  }

  /** Resolves when the record names exactly the copies in use: only then may anything be acknowledged. */
  async recordDurable(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  private async run(): Promise<void> {
    try {
      while (this.requested) {
        this.requested = false;
        await this.makeDurable();
      }
    } finally {
      this.running = undefined;
    }
  }

  /** Bounded: each round but the last leaves out at least one more copy, or waits for the control plane. */
  private async makeDurable(): Promise<void> {
    for (;;) {
      await this.ports.askLeftOut();
      if (this.ports.stopped()) return;
      const members = this.wanted();
      if (members.length === 0) return;
      if (this.attempted.length === 0 && sameMembers(this.durable.members, members)) return;
      const record = this.nextRecord(members);
      if (!this.mayShrinkAlone(record) && !(await this.confirm(record))) return;
      this.attempted.push(record);
      await this.store(record);
      // The last copy is kept though it could not store the record; the write is retried until it can.
      if (this.attempted.length > 0 && sameMembers(this.wanted(), members))
        await this.pause(CONFIRM_PAUSE_MIN_MS);
    }
  }

  private mayShrinkAlone(next: CopyRecord): boolean {
    return [this.durable, ...this.attempted].every(({ members }) => mayShrinkAlone(members, next.members));
  }

  private nextRecord(members: readonly ReplicaId[]): CopyRecord {
    this.generation += 1;
    return copyRecord(this.epoch, this.generation, members, this.completed);
  }

  /** Writes the record to all its members. It becomes the durable one only when every member has it. */
  private async store(record: CopyRecord): Promise<void> {
    const errors: unknown[] = [];
    await Promise.all(
      record.members.map(async (member) => {
        try {
          await this.ports.writeRecord(member, record);
        } catch (error) {
          errors.push(error);
          if (!isFault(error, 'engine.stale_epoch')) this.ports.memberFailed(member, error);
        }
      }),
    );
    const stale = errors.find((error) => isFault(error, 'engine.stale_epoch'));
    if (stale !== undefined) this.ports.stop(stale);
    if (errors.length > 0) return;
    this.completeWith(record);
    this.ports.changed();
  }

  private completeWith(record: CopyRecord): void {
    const { epoch, dataGeneration } = record;
    this.durable = record;
    this.attempted = [];
    this.completed = { epoch, dataGeneration };
  }

  /**
   * Seals a clean stop: after the last flush, writes two more records for the same members. The second one says that
   * all of them had the first, so a copy that is set back to any moment of this attachment is known by its older
   * record.
   */
  async seal(): Promise<void> {
    for (let round = 0; round < 2; round += 1) {
      const members = this.wanted();
      if (this.ports.stopped() || !this.isRecordDurable || !sameMembers(this.durable.members, members))
        return;
      const record = this.nextRecord(members);
      const writing = members.map((member) => this.ports.writeRecord(member, record));
      const written = await Promise.allSettled(writing);
      // Safe to give up: a record that only some stored names the same members.
      if (written.some(({ status }) => status === 'rejected')) return;
      this.completeWith(record);
    }
  }

  /**
   * Waits for the control plane to record the members, for as long as the engine runs. @returns false when the engine
   * must stop
   */
  private async confirm(record: CopyRecord): Promise<boolean> {
    this.waiting = true;
    this.ports.changed();
    try {
      for (let pauseMs = CONFIRM_PAUSE_MIN_MS; !this.ports.stopped(); ) {
        try {
          await this.ports.confirmRecord(record);
          // The control plane's record is the highest one now: lower ones on copies no longer count.
          this.durable = record;
          this.attempted = [];
          return true;
        } catch (error) {
          if (isFault(error, 'engine.stale_epoch')) {
            this.ports.stop(error);
            return false;
          }
        }
        await this.pause(pauseMs);
        pauseMs = Math.min(pauseMs * 2, CONFIRM_PAUSE_MAX_MS);
      }
      return false;
    } finally {
      this.waiting = false;
      this.ports.changed();
    }
  }

  /** Ends early when the engine stops, so that a stop does not wait for the pause. */
  private async pause(pauseMs: number): Promise<void> {
    const { time = SYSTEM_TIME } = this.ports;
    const endsAtMs = time.nowMs() + pauseMs;
    while (!this.ports.stopped() && time.nowMs() < endsAtMs) await time.sleep(PAUSE_STEP_MS);
  }

  private wanted(): ReplicaId[] {
    return this.ports.wantedMembers();
  }
}

function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((member) => b.includes(member));
}
