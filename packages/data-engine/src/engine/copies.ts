/**
 * Replication set of an engine: sends changes to all copies that take writes, reads from current ones, and drops the
 * copies that fail.
 *
 * The user sees no error as long as one current copy completes the request. The last current copy is never dropped: a
 * request that it answers with an error fails, and while it is silent requests wait. A change is acknowledged only
 * when the record of members names no dropped copy any more (see `membership.ts`), and reads are answered only under
 * a lease (`lease.ts`).
 */

import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaMode } from '@holdfast/core/model/replica.js';
import { SYSTEM_TIME, type Time, within } from '../base/time.js';
import { NbdErrno } from '../nbd/constants.js';
import type { DataLink } from '../nbd/data-link.js';
import { NbdError } from '../nbd/errors.js';
import { type NbdWrite, tellWhenEnded, type WriteListener, writeBy } from '../nbd/export.js';
import { staleEpoch } from '../protocol/replica-faults.js';
import {
  type Apply,
  type Failures,
  failuresOf,
  isAnswer,
  isNoSpace,
  isRefusedChange,
  NO_FAILURES,
  WriteToAll,
} from './changes.js';
import { Lease } from './lease.js';
import { Membership } from './membership.js';
import { Reads } from './reads.js';
import { reopen } from './reopening.js';
import type { ReplicaLink } from './replica-link.js';

export type CopiesPorts = {
  epoch: number;
  found: CopyRecord;
  /** Silence after which a copy is dropped, in milliseconds; may change while the engine serves. */
  replicaTimeoutMs: () => number;
  confirmRecord: (record: CopyRecord) => Promise<void>;
  onChange: () => void;
  /** Called when a current copy was dropped while others remain. */
  onDropped: (link: ReplicaLink, error: unknown) => void;
  /** Called once, when no copy can be served from any more. */
  onStop: (error: StorageFault) => void;
  /** Reconnects to a copy that can't be dropped. Without it, losing the last copy ends the engine. */
  reopen?: (link: ReplicaLink) => Promise<DataLink>;
  time?: Time;
};

/** How long a new record waits for the answer of a copy that has hung up. Most answer within a millisecond, or their port refuses. */
const ASK_LEFT_OUT_MS = 1_000;

/** How long the report shows the last error of a copy that could not be dropped. */
const TROUBLE_TOLD_MS = 60_000;

/**
 * Maximum number of links, with dropped copies kept for the report; beyond it the oldest dropped one is forgotten.
 */
const LINKS_MAX = 64;

export class Copies {
  readonly membership: Membership;
  readonly lease: Lease;
  readonly reads = new Reads(this);
  private links: ReplicaLink[] = [];
  private stoppedBy: StorageFault | undefined;
  /** A copy that joins the members with the next record, but is not read from yet. */
  private promoting: ReplicaLink | undefined;
  /** Dropped members that no record leaves out yet, and that may say why they have hung up. Silent ones could not. */
  private leftOut: ReplicaLink[] = [];
  private readonly time: Time;
  private lastTickMs: number;

  constructor(private readonly ports: CopiesPorts) {
    const { time = SYSTEM_TIME } = ports;
    this.time = time;
    this.lastTickMs = time.nowMs();
    this.membership = new Membership(ports.epoch, ports.found, {
      wantedMembers: () => this.members().map(({ replicaId }) => replicaId),
      askLeftOut: () => this.askLeftOut(),
      writeRecord: (replicaId, record) => this.writeRecord(replicaId, record),
      memberFailed: (replicaId, error) => this.failById(replicaId, error),
      confirmRecord: ports.confirmRecord,
      stop: (error) => this.stop(error),
      stopped: () => this.stoppedBy !== undefined,
      changed: () => this.changed(),
      time,
    });
    this.lease = new Lease({
      members: () => this.membership.record.members.map((member) => this.find(member)),
      timeoutMs: ports.replicaTimeoutMs,
      time,
      failed: (link, error) => {
        // Only a stale-epoch answer fails the copy here: the data connection is watched elsewhere, and other errors
        // of a ping mean nothing.
        if (isStale(error)) this.fail(link, error);
      },
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

  /** Adds a copy; replaces an earlier connection to the same one. */
  add(link: ReplicaLink): void {
    const others = this.links.filter(({ replicaId }) => replicaId !== link.replicaId);
    // A copy in this process is last: while it works, the messages to the others are on their way.
    this.links = [...others, link].sort((a, b) => Number(isHere(a)) - Number(isHere(b)));
    if (link.opened.record !== null) this.membership.goOnAbove(link.opened.record);
    const dropped = this.links.findIndex(({ mode }) => mode === 'ERR');
    if (this.links.length > LINKS_MAX && dropped >= 0) this.links.splice(dropped, 1);
    this.watch(link, link.client);
    this.changed();
  }

  /**
   * Applies a change to every copy that takes writes; returns when it may be acknowledged.
   *
   * @throws NbdError with ENOSPC when the disks of all current copies are full. They are kept, because dropping them
   *   all would lose the volume; what the change touched may differ between them (see `equaliseRange`). Also with
   *   whatever error the last current copy answered.
   */
  async change(apply: Apply): Promise<void> {
    this.requireServing();
    const targets = this.links.filter(takesWrites);
    await this.settle(targets, await failuresOf(targets, apply), apply);
  }

  /** The same for a user's write, without a promise if all copies have made it. The listener receives what `change` would throw. */
  beginWrite<Tag>(write: NbdWrite, listener: WriteListener<Tag>, tag: Tag): void {
    if (this.stoppedBy !== undefined) listener.written(tag, this.stoppedBy);
    else new WriteToAll(this, write, this.links.filter(takesWrites), listener, tag).begin();
  }

  /** All copies have reported how a user's write ended there. */
  writtenToAll<Tag>({ write, targets, failures, listener, tag }: WriteToAll<Tag>): void {
    if (failures === undefined && this.membership.isRecordDurable && this.stoppedBy === undefined) {
      listener.written(tag, undefined);
      return;
    }
    // Deferred: the connection that reported it may be in the middle of closing.
    const settled = Promise.resolve().then(() =>
      this.settle(targets, failures ?? NO_FAILURES, (client) => writeBy(client, write)),
    );
    tellWhenEnded(settled, listener, tag);
  }

  /** Makes the record name no copy that failed, before the change is acknowledged. @throws as `change` does */
  private async settle(targets: readonly ReplicaLink[], failures: Failures, apply: Apply): Promise<void> {
    const refusal = failures.size > 0 ? await this.judge(targets, failures, apply) : undefined;
    if (!this.membership.isRecordDurable) await this.membership.recordDurable();
    this.requireServing();
    if (refusal !== undefined) throw refusal;
  }

  /** Drops the copies that failed, and retries on those that can't be dropped. @returns the error of the change */
  private async judge(targets: readonly ReplicaLink[], failures: Failures, apply: Apply): Promise<unknown> {
    const answers = new Map<ReplicaLink, unknown>();
    for (let failed = failures; failed.size > 0; ) {
      const silent: ReplicaLink[] = [];
      for (const [link, error] of failed) {
        if (isAnswer(error)) answers.set(link, error);
        else if (!this.disconnected(link, error)) silent.push(link);
      }
      await Promise.all(silent.map(({ lost }) => lost?.ended));
      this.requireServing();
      failed = await failuresOf(
        silent.filter(({ mode }) => mode !== 'ERR'),
        apply,
      );
    }
    return this.takeAnswers(targets, answers);
  }

  /** Judges copies last whose disks refuse: if all current copies refuse, or no other one is left, they are kept. */
  private takeAnswers(targets: readonly ReplicaLink[], answers: Failures): unknown {
    const current = targets.filter(({ mode }) => mode === 'RW');
    const refusals = current.flatMap((link) => answers.get(link) ?? []).filter(isRefusedChange);
    const doAllRefuse = current.length > 0 && refusals.length === current.length;
    const refusedLast = [...answers].sort(
      ([, a], [, b]) => Number(isRefusedChange(a)) - Number(isRefusedChange(b)),
    );
    for (const [link, error] of refusedLast) {
      if (!doAllRefuse || link.mode !== 'RW') this.fail(link, error);
    }
    if (doAllRefuse) {
      return refusals.every(isNoSpace)
        ? new NbdError(NbdErrno.NoSpace, 'the disks of all copies are full')
        : new NbdError(NbdErrno.Perm, 'the disks of all copies are full or read-only');
    }
    const left = current.filter(({ mode }) => mode === 'RW');
    const [first] = left;
    return first !== undefined && left.every((link) => answers.has(link)) ? answers.get(first) : undefined;
  }

  /**
   * Takes a copy out of use. The last current one is kept, unless it is gone for good.
   *
   * @returns true when the copy is out of use, now or already
   */
  fail(link: ReplicaLink, error: unknown): boolean {
    if (link.mode === 'ERR' || this.stoppedBy !== undefined) return true;
    const isGone = isFault(error, 'replica.corrupt') || isFault(error, 'replica.not_found');
    if (isStale(error)) this.stop(staleEpoch(this.ports.epoch, this.ports.epoch + 1));
    else if (!this.isLast(link)) {
      if (this.members().includes(link)) this.leftOut.push(link);
      this.drop(link, error);
    } else if (isGone || this.ports.reopen === undefined) this.stopWithout(link, error);
    else {
      this.noteError(link, messageOf(error));
      return false;
    }
    return true;
  }

  /** Handles a lost or unusable connection to a copy. @returns true when the copy is out of use */
  disconnected(link: ReplicaLink, error: unknown): boolean {
    const isKept = link.lost !== undefined || (this.isLast(link) && this.ports.reopen !== undefined);
    if (!isKept || this.stoppedBy !== undefined) return this.fail(link, error);
    this.lose(link, error);
    return false;
  }

  private isLast(link: ReplicaLink): boolean {
    return link.mode === 'RW' && this.withMode('RW').length === 1;
  }

  private noteError(link: ReplicaLink, reason: string): void {
    link.reason = reason;
    link.troubledAtMs = this.time.nowMs();
    this.changed();
  }

  private drop(link: ReplicaLink, error: unknown): void {
    const wasCurrent = link.mode === 'RW';
    const wasMember = wasCurrent || link === this.promoting;
    link.mode = 'ERR';
    link.reason = messageOf(error);
    link.client.destroy(new Error(`the copy was dropped: ${link.reason}`));
    this.changed();
    if (wasMember) void this.membership.update();
    if (wasCurrent) this.ports.onDropped(link, error);
  }

  /** Reconnects to the copy; requests to it wait meanwhile, and are sent again. */
  private lose(link: ReplicaLink, error: unknown): void {
    const { reopen: connect } = this.ports;
    if (link.lost !== undefined || connect === undefined) return;
    const { client } = link;
    const ended = reopen(link, {
      reopen: connect,
      time: this.time,
      stopped: () => this.stoppedBy !== undefined,
      reopened: (_, next) => {
        link.client = next;
        link.lost = undefined;
        link.reason = '';
        this.watch(link, next);
        this.changed();
      },
      gone: (_, fault) => {
        link.lost = undefined;
        if (isStale(fault)) this.stop(fault);
        else if (this.withMode('RW').length > 1) this.drop(link, fault);
        else this.stopWithout(link, fault);
      },
    });
    link.lost = { sinceMs: this.time.nowMs(), ended };
    this.noteError(link, `it is being opened again: ${messageOf(error)}`);
    client.destroy(error instanceof Error ? error : new Error(String(error)));
  }

  private watch(link: ReplicaLink, client: DataLink): void {
    client.onClose((reason) => {
      if (link.client === client) this.disconnected(link, reason);
    });
  }

  private stopWithout(link: ReplicaLink, error: unknown): void {
    link.mode = 'ERR';
    link.reason = messageOf(error);
    this.stop(new StorageFault('engine.no_replica', { publicMessage: `no copy is left: ${link.reason}` }));
  }

  private changed(): void {
    this.lease.changed();
    this.ports.onChange();
  }

  /** Promotes a complete copy to a member: all members store the record that names it before it is read from. */
  async promote(link: ReplicaLink): Promise<void> {
    this.promoting = link;
    try {
      await this.membership.update();
      await this.membership.recordDurable();
    } finally {
      this.promoting = undefined;
    }
    this.requireServing();
    if (link.mode !== 'WO') throw new StorageFault('rebuild.failed', { publicMessage: link.reason });
    link.mode = 'RW';
    this.changed();
  }

  /** Finds copies that have been silent beyond the timeout with requests in flight. */
  tick(nowMs: number): void {
    // If this process itself was paused, the answers of the copies are not read yet: their silence is excused once.
    const timeoutMs = this.ports.replicaTimeoutMs();
    const stoodStill = nowMs - this.lastTickMs > timeoutMs / 2;
    this.lastTickMs = nowMs;
    for (const link of this.links) {
      if (link.mode === 'ERR') continue;
      if (stoodStill) link.client.excuseSilence();
      const silentMs = link.lost ? nowMs - link.lost.sinceMs : link.client.silentForMs(nowMs);
      if (silentMs > timeoutMs) this.takeSilence(link, silentMs, nowMs);
      else if (link.reason !== '' && nowMs - link.troubledAtMs > TROUBLE_TOLD_MS) this.forgetTrouble(link);
    }
    this.lease.tick(nowMs);
  }

  private forgetTrouble(link: ReplicaLink): void {
    if (link.lost !== undefined || link.mode === 'ERR') return;
    link.reason = '';
    this.changed();
  }

  /**
   * Drops a silent copy only if another one was heard meanwhile: otherwise this machine's network may be at fault.
   */
  private takeSilence(link: ReplicaLink, silentMs: number, nowMs: number): void {
    const error = new Error(`silent for ${Math.round(silentMs)} ms with requests in flight`);
    const others = this.withMode('RW').filter((one) => one !== link && one.lost === undefined);
    if (others.some(({ client }) => client.heardAtMs > nowMs - silentMs)) this.drop(link, error);
    else if (link.mode === 'RW') this.lose(link, error);
  }

  /** Ends the set on an error: no request is served or acknowledged after this. */
  stop(error: unknown): void {
    this.end(error, (client, reason) => client.destroy(reason));
  }

  /** Ends the set after a clean stop, and disconnects from the copies in order. */
  release(reason: StorageFault): void {
    this.end(reason, (client) => client.close());
  }

  /** Marks the set as stopped before closing connections, so that a close is not taken for a replica failure. */
  private end(error: unknown, hangUp: (client: DataLink, reason: StorageFault) => void): void {
    if (this.stoppedBy !== undefined) return;
    const reason =
      error instanceof StorageFault
        ? error
        : new StorageFault('engine.no_replica', { publicMessage: String(error), cause: error });
    this.stoppedBy = reason;
    for (const { client } of this.links) hangUp(client, reason);
    this.ports.onStop(reason);
    this.changed();
  }

  requireServing(): void {
    if (this.stoppedBy !== undefined) throw this.stoppedBy;
  }

  /**
   * A copy that a newer engine has opened closes this engine's connection, and so does a copy whose process ends. A record without
   * that copy would state that it misses writes, on copies that the newer engine has not opened yet, and could keep that engine from
   * starting.
   */
  private async askLeftOut(): Promise<void> {
    const { leftOut } = this;
    if (leftOut.length === 0) return;
    this.leftOut = [];
    const asked = leftOut.map((link) =>
      link.requireNotFenced(this.ports.epoch).catch((error: unknown) => {
        // Any other error: it can't be asked, as when its process died.
        if (isStale(error)) this.stop(error);
      }),
    );
    await within(ASK_LEFT_OUT_MS, Promise.all(asked), this.time);
  }

  private members(): ReplicaLink[] {
    return this.links.filter((link) => link.mode === 'RW' || (link === this.promoting && link.mode === 'WO'));
  }

  private async writeRecord(replicaId: string, record: CopyRecord): Promise<void> {
    const ask = { epoch: this.ports.epoch, record };
    await this.find(replicaId)?.control.command('record', ask);
  }

  private failById(replicaId: string, error: unknown): void {
    const link = this.find(replicaId);
    if (link !== undefined) this.fail(link, error);
  }
}

function takesWrites({ mode }: ReplicaLink): boolean {
  return mode !== 'ERR';
}

function isHere({ client }: ReplicaLink): boolean {
  return client.isHere === true;
}

function isStale(error: unknown): boolean {
  return (isAnswer(error) && error.errno === NbdErrno.Shutdown) || isFault(error, 'engine.stale_epoch');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
