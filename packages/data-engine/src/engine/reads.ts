/**
 * Reads of an engine: each range is read from one current copy, or from the next if that fails, and answered only while
 * no other engine can have been started on copies that this one does not hear.
 */
import { RANGE_BYTES } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { DataLink } from '../nbd/data-link.js';
import type { Extent, Payload } from '../nbd/export.js';
import { isAnswer } from './changes.js';
import type { Lease } from './lease.js';
import type { Membership } from './membership.js';
import type { ReplicaLink } from './replica-link.js';

/**
 * Without a copy in this process: bytes that are read from one copy before the next one is used, so that each node's page cache holds
 * another part of the device. Long enough for a disk's read-ahead, short enough for a sequential stream to use all copies.
 */
const READ_BYTES = RANGE_BYTES;

export type Changes = {
  /** Number of changes refused so far. */
  refused: number;
  /** Resolves when the changes in flight in the range have ended; `undefined` if there is none. */
  readonly under: (start: number, end: number) => Promise<void> | undefined;
};

/** The copies that are read from. */
type ReadCopies = {
  readonly membership: Pick<Membership, 'isRecordDurable' | 'recordDurable'>;
  readonly lease: Pick<Lease, 'isValid' | 'renewed'>;
  /** Why nothing is served any more; `undefined` while it is. */
  readonly stopReason: StorageFault | undefined;
  requireServing(): void;
  withMode(mode: 'RW'): ReplicaLink[];
  /** Takes a copy out of use, unless it is the last one. @returns true when it is out of use */
  fail(link: ReplicaLink, error: unknown): boolean;
  /** Handles a lost or unusable connection to a copy. @returns true when the copy is out of use */
  disconnected(link: ReplicaLink, error: unknown): boolean;
};

export class Reads {
  /** The only copy that reads may come from during resync. */
  private onlySource: ReplicaLink | undefined;

  constructor(private readonly copies: ReadCopies) {}

  /**
   * Reads from one current copy, or from the next if one fails. A read that overlaps a change in flight is answered
   * when the change has ended: before that, a single copy may hold the new data, and losing it would undo what the
   * user has read.
   */
  read(offset: number, lengthBytes: number, changes?: Changes): Promise<Payload> {
    return this.ask(offset, offset + lengthBytes, (client) => client.read(offset, lengthBytes), changes);
  }

  /** The answer of `read`, if a copy in this process has it without waiting; `undefined` otherwise. */
  readNow(offset: number, lengthBytes: number, changes: Changes, alone: boolean): Payload | undefined {
    if (this.copies.stopReason !== undefined || !this.mayAnswer) return undefined;
    const { client, lost } = this.readerOf(offset);
    if (client.readNow === undefined || lost !== undefined) return undefined;
    if (changes.under(offset, offset + lengthBytes) !== undefined) return undefined;
    const payload = client.readNow(offset, lengthBytes, alone);
    // A call that had to wait for the disk may have outlived the lease.
    return this.mayAnswer ? payload : undefined;
  }

  /** Like a read: only a copy that may be read from reports what is allocated. */
  blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]> {
    const end = offset + lengthBytes;
    return this.ask(offset, end, (client) => client.blockStatus(offset, lengthBytes, extentsMax));
  }

  /** Hot path of every read: one promise beside the copy's own. */
  private async ask<T>(
    start: number,
    end: number,
    request: (client: DataLink) => Promise<T>,
    changes?: Changes,
  ): Promise<T> {
    for (;;) {
      const refused = changes?.refused;
      if (!this.mayAnswer) await this.untilMayAnswer();
      this.copies.requireServing();
      const link = this.readerOf(start);
      let answer: T;
      try {
        answer = await request(link.client);
      } catch (error) {
        this.copies.requireServing();
        if (isAnswer(error)) {
          if (!this.copies.fail(link, error)) throw error;
        } else if (!this.copies.disconnected(link, error)) await link.lost?.ended;
        continue;
      }
      if (!this.mayAnswer) await this.untilMayAnswer();
      this.copies.requireServing();
      // Discards the answer of a copy that was dropped meanwhile: it may hold a write that the others never got.
      if (link.mode !== 'RW') continue;
      const changing = changes?.under(start, end);
      if (changing === undefined) return answer;
      await changing;
      this.copies.requireServing();
      // A refused change was rolled back: the copies were made equal with the data from before it, so the read is
      // repeated.
      if (changes?.refused === refused) return answer;
    }
  }

  /**
   * Without a durable record and a valid lease, another engine may have been started on members that this one did not
   * ask.
   */
  private get mayAnswer(): boolean {
    return (
      this.copies.stopReason !== undefined ||
      (this.copies.membership.isRecordDurable && this.copies.lease.isValid)
    );
  }

  private async untilMayAnswer(): Promise<void> {
    while (!this.mayAnswer) {
      if (this.copies.membership.isRecordDurable) await this.copies.lease.renewed();
      else await this.copies.membership.recordDurable();
    }
  }

  /** The single copy that serves all reads now, if there is one. */
  get source(): ReplicaLink | undefined {
    return this.onlySource?.mode === 'RW' && this.onlySource.lost === undefined ? this.onlySource : undefined;
  }

  /**
   * Pins all reads to one copy, or to another single one if it is lost. Called without a copy, it ends the pinning.
   */
  onlyFrom(source: ReplicaLink | undefined): void {
    this.onlySource = source;
  }

  private readerOf(offset: number): ReplicaLink {
    const current = this.copies.withMode('RW');
    const connected = current.filter(({ lost }) => lost === undefined);
    const readers = connected.length > 0 ? connected : current;
    if (this.onlySource !== undefined) {
      // The pinned copy was lost before resync ended: pins another single one, because reads from several unequal
      // copies could change back and forth.
      if (this.onlySource.mode !== 'RW') this.onlySource = preferredSource(readers) ?? this.onlySource;
      if (this.onlySource.mode === 'RW') return this.onlySource;
    }
    const here = readers.find(({ client }) => client.isHere === true);
    if (here !== undefined) return here;
    const link = readers[Math.floor(offset / READ_BYTES) % Math.max(1, readers.length)];
    if (link === undefined) {
      throw new StorageFault('engine.no_replica', { publicMessage: 'no copy is left to read from' });
    }
    return link;
  }
}

/**
 * Prefers a copy whose replica process lived through the crash: it also has what was acknowledged but not flushed.
 */
export function preferredSource(current: readonly ReplicaLink[]): ReplicaLink | undefined {
  return current.find(({ opened }) => opened.kept) ?? current[0];
}
