/**
 * The copies an engine works with: sends changes to all that take writes, reads from those that are current, and
 * drops what fails.
 *
 * The user sees no error as long as one current copy is left. A change is acknowledged only when the record of
 * members names no dropped copy any more (see `membership.ts`).
 */

import { MIB } from '@holdfast/core/model/bytes.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaMode } from '@holdfast/core/model/replica.js';
import type { NbdClient } from '../nbd/client.js';
import { NbdErrno } from '../nbd/constants.js';
import { NbdError } from '../nbd/errors.js';
import type { Payload } from '../nbd/export.js';
import { staleEpoch } from '../replica/replica-faults.js';
import { Membership } from './membership.js';
import type { ReplicaLink } from './replica-link.js';

export type CopiesPorts = {
  epoch: number;
  found: CopyRecord;
  replicaTimeoutMs: number;
  confirmRecord: (record: CopyRecord) => Promise<void>;
  onChange: () => void;
  /** A current copy is one no more, while others go on. */
  onDropped: (link: ReplicaLink, error: unknown) => void;
  /** Called once, when the copies can't serve any more. */
  onStop: (error: StorageFault) => void;
};

export function isNoSpace(error: unknown): boolean {
  return error instanceof NbdError && error.errno === NbdErrno.NoSpace;
}

/**
 * Each copy answers for every n-th stretch of this length, so that the memory of each node keeps another part of the
 * device. Long enough for a disk to read ahead within it, short enough for a stream of large reads to be on all copies.
 */
const READ_STRETCH_BYTES = MIB;

type Failures = ReadonlyMap<ReplicaLink, unknown>;
const NO_FAILURES: Failures = new Map();

/** Dropped copies are kept for the report; a volume that goes through more of them forgets the oldest. */
const LINKS_MAX = 64;

export class Copies {
  readonly membership: Membership;
  private links: ReplicaLink[] = [];
  private stoppedBy: StorageFault | undefined;
  /** Joins the members with the next record, though it is not read from yet. */
  private promoting: ReplicaLink | undefined;
  /** The only copy to read from while the copies are being made equal. */
  private onlySource: ReplicaLink | undefined;
  private lastTickMs = performance.now();

  constructor(private readonly ports: CopiesPorts) {
    this.membership = new Membership(ports.epoch, ports.found, {
      wantedMembers: () => this.members().map(({ replicaId }) => replicaId),
      writeRecord: (replicaId, record) => this.writeRecord(replicaId, record),
      memberFailed: (replicaId, error) => this.failById(replicaId, error),
      confirmRecord: ports.confirmRecord,
      stop: (error) => this.stop(error),
      stopped: () => this.stoppedBy !== undefined,
      changed: ports.onChange,
    });
  }

  get all(): readonly ReplicaLink[] {
    return this.links;
  }

  get stopReason(): StorageFault | undefined {
    return this.stoppedBy;
  }

  withMode(mode: ReplicaMode): ReplicaLink[] {
    return this.links.filter((link) => link.mode === mode);
  }

  find(replicaId: string): ReplicaLink | undefined {
    return this.links.find((link) => link.replicaId === replicaId);
  }

  /** Adds a copy, in place of an earlier connection to the same one. */
  add(link: ReplicaLink): void {
    this.links = [...this.links.filter(({ replicaId }) => replicaId !== link.replicaId), link];
    const dropped = this.links.findIndex(({ mode }) => mode === 'ERR');
    if (this.links.length > LINKS_MAX && dropped >= 0) this.links.splice(dropped, 1);
    link.client.onClose((reason) => this.fail(link, reason));
    this.ports.onChange();
  }

  /**
   * Applies a change to every copy that takes writes; returns when it may be acknowledged.
   *
   * @throws NbdError with ENOSPC when the disks of all current copies are full. They are kept, because dropping them
   *   all would lose the volume; what the change touched may differ between them (see `equaliseRange`).
   */
  async change(apply: (client: NbdClient) => Promise<void>): Promise<void> {
    this.requireServing();
    const targets = this.links.filter(({ mode }) => mode !== 'ERR');
    const failures = await failuresOf(targets, apply);
    const allFull = failures.size > 0 && this.takeFailures(targets, failures);
    if (!this.membership.isSettled) await this.membership.settled();
    this.requireServing();
    if (allFull) throw new NbdError(NbdErrno.NoSpace, 'the disks of all copies are full');
  }

  /** Drops the copies that failed. True when they are all of the current ones, each for want of space, and were kept. */
  private takeFailures(targets: readonly ReplicaLink[], failures: Failures): boolean {
    const current = targets.filter(({ mode }) => mode === 'RW');
    const allFull = current.length > 0 && current.every((link) => isNoSpace(failures.get(link)));
    for (const [link, error] of failures) {
      if (!allFull || link.mode !== 'RW') this.fail(link, error);
    }
    return allFull;
  }

  /** Reads from one current copy, and from the next where one fails. */
  async read(offset: number, lengthBytes: number): Promise<Payload> {
    // While the control plane is asked whether this engine may go on, another one may already have been started.
    if (this.membership.waiting) await this.membership.settled();
    for (;;) {
      this.requireServing();
      const link = this.readerOf(offset);
      try {
        return await link.client.read(offset, lengthBytes);
      } catch (error) {
        this.fail(link, error);
      }
    }
  }

  /** Until it is called without one, all reads come from this copy, or from another single one when it is lost. */
  readOnlyFrom(source: ReplicaLink | undefined): void {
    this.onlySource = source;
  }

  /** Takes a copy out of use. Does nothing for one that already is. */
  fail(link: ReplicaLink, error: unknown): void {
    if (link.mode === 'ERR') return;
    if (this.stoppedBy !== undefined) return;
    if (error instanceof NbdError && error.errno === NbdErrno.Shutdown) {
      this.stop(staleEpoch(this.ports.epoch, this.ports.epoch + 1));
      return;
    }
    const wasCurrent = link.mode === 'RW';
    const wasMember = wasCurrent || link === this.promoting;
    link.mode = 'ERR';
    link.reason = error instanceof Error ? error.message : String(error);
    link.client.destroy(new Error(`the copy was dropped: ${link.reason}`));
    this.ports.onChange();
    if (this.withMode('RW').length === 0) {
      this.stop(new StorageFault('engine.no_replica', { publicMessage: `no copy is left: ${link.reason}` }));
    } else if (wasMember) {
      void this.membership.update();
      if (wasCurrent) this.ports.onDropped(link, error);
    }
  }

  /** Makes a complete copy a member: first all members store the record that names it, then it is read from. */
  async promote(link: ReplicaLink): Promise<void> {
    this.promoting = link;
    try {
      await this.membership.update();
      await this.membership.settled();
    } finally {
      this.promoting = undefined;
    }
    this.requireServing();
    if (link.mode !== 'WO') throw new StorageFault('rebuild.failed', { publicMessage: link.reason });
    link.mode = 'RW';
    this.ports.onChange();
  }

  /** Drops copies that have been silent for too long with requests in flight. */
  tick(nowMs: number): void {
    // If this process itself stood still, the copies have had no chance to be heard: give them one.
    const stoodStill = nowMs - this.lastTickMs > this.ports.replicaTimeoutMs / 2;
    this.lastTickMs = nowMs;
    for (const link of this.links) {
      if (link.mode === 'ERR') continue;
      if (stoodStill) link.client.excuseSilence();
      const silentMs = link.client.silentForMs(nowMs);
      if (silentMs > this.ports.replicaTimeoutMs) {
        this.fail(link, new Error(`silent for ${Math.round(silentMs)} ms with requests in flight`));
      }
    }
  }

  /** No request is served or acknowledged after this. */
  stop(error: unknown): void {
    this.end(error, (client, reason) => client.destroy(reason));
  }

  /** Ends the same way after everything was flushed, but says goodbye to the copies. */
  letGo(reason: StorageFault): void {
    this.end(reason, (client) => client.close());
  }

  /** First nothing counts any more, then the connections go: a closing one must not look like a failed copy. */
  private end(error: unknown, hangUp: (client: NbdClient, reason: StorageFault) => void): void {
    if (this.stoppedBy !== undefined) return;
    const reason =
      error instanceof StorageFault
        ? error
        : new StorageFault('engine.no_replica', { publicMessage: String(error), cause: error });
    this.stoppedBy = reason;
    for (const { client } of this.links) hangUp(client, reason);
    this.ports.onStop(reason);
    this.ports.onChange();
  }

  requireServing(): void {
    if (this.stoppedBy !== undefined) throw this.stoppedBy;
  }

  private members(): ReplicaLink[] {
    return this.links.filter((link) => link.mode === 'RW' || (link === this.promoting && link.mode === 'WO'));
  }

  private readerOf(offset: number): ReplicaLink {
    const readers = this.withMode('RW');
    if (this.onlySource !== undefined) {
      // Lost while the copies were not equal yet: one other, not several, or what is read could change back and forth.
      if (this.onlySource.mode !== 'RW') this.onlySource = preferredSource(readers) ?? this.onlySource;
      if (this.onlySource.mode === 'RW') return this.onlySource;
    }
    const link = readers[Math.floor(offset / READ_STRETCH_BYTES) % Math.max(1, readers.length)];
    if (link === undefined) {
      throw new StorageFault('engine.no_replica', { publicMessage: 'no copy is left to read from' });
    }
    return link;
  }

  private async writeRecord(replicaId: string, record: CopyRecord): Promise<void> {
    const { epoch, dataGeneration, members } = record;
    const ask = { epoch: this.ports.epoch, record: { epoch, dataGeneration, members } };
    await this.find(replicaId)?.control.command('record', ask);
  }

  private failById(replicaId: string, error: unknown): void {
    const link = this.find(replicaId);
    if (link !== undefined) this.fail(link, error);
  }
}

/** Applies a change to all copies at once; resolves when each has answered or failed, with the errors of those. */
function failuresOf(
  targets: readonly ReplicaLink[],
  apply: (client: NbdClient) => Promise<void>,
): Promise<Failures> {
  let failures: Map<ReplicaLink, unknown> | undefined;
  return new Promise((resolve) => {
    let missing = targets.length;
    const ended = () => {
      missing -= 1;
      if (missing === 0) resolve(failures ?? NO_FAILURES);
    };
    for (const link of targets) {
      apply(link.client).then(ended, (error: unknown) => {
        failures ??= new Map();
        failures.set(link, error);
        ended();
      });
    }
    if (missing === 0) resolve(NO_FAILURES);
  });
}

/** One whose process lived through the crash has also what was acknowledged but not flushed. */
export function preferredSource(current: readonly ReplicaLink[]): ReplicaLink | undefined {
  return current.find(({ opened }) => opened.kept) ?? current[0];
}
