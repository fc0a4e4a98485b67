/**
 * Group commit of new volumes, for one process and cluster: creations that arrive while a transaction runs share the
 * next one, because most of a transaction's cost does not depend on how many volumes it creates.
 *
 * A transaction reads what has changed in the fleet since the last one, decides all waiting creations from the cached
 * fleet, locks the chosen disks, compares each decision with them, and stores those that hold. The others are decided
 * again. Crash behaviour: a transaction that did not commit left nothing, and no caller was answered.
 */

import { type PassedQuota, quotaRefusal } from '@holdfast/access/quota.js';
import { faultOf } from '@holdfast/control/use-cases/use-case.js';
import type { CreationRequest, DecideCreation, NewVolume } from '@holdfast/core/lifecycle/decide-creation.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { DiskId } from '@holdfast/core/model/ids.js';
import { fillOf } from '@holdfast/core/model/volume-task.js';
import { FleetCache } from '@holdfast/core/scheduling/index/fleet-cache.js';
import type { AuditEntry } from '../queries/audit.js';
import { conflict, nameTaken } from '../sql/errors.js';
import { type Scope, type Sql, transaction } from '../sql/scope.js';
import { sourceGone, takeCloneSources } from '../store/clone-sources.js';
import { type FleetHorizon, readFleetChanges, readWholeFleet } from '../store/fleet-changes.js';
import { BookingCheck } from './booking-check.js';
import { QuotaRoom } from './quota-room.js';
import { type CreationPlace, insertBelongings, insertVolumes, lockForBooking } from './write-creations.js';

/** Volumes of one transaction: it takes a few milliseconds, and its statements stay far below 65,535 parameters. */
const BATCH_MAX = 64;
/** Decisions of one transaction: a refusal is explained, which takes a while, and nothing else runs meanwhile. */
const DECIDE_MS_MAX = 100;
/** Waiting volumes: some seconds of work. Callers beyond that must try again. */
const WAITING_MAX = 2_000;
/** One that has waited longer for a transaction which the database then failed does not wait for another one. */
const WAIT_MS_MAX = 1_000;
/** A creation that loses this often races with more writers than a fleet ever has. Its last attempt does without places. */
const ATTEMPTS_MAX = 8;

/** Where the time of one creation went. */
export type CreationTiming = {
  /** Until its transaction began. */
  readonly waitMs: number;
  /** Its own decision. */
  readonly decideMs: number;
  /** The rest of the transaction, which it may have shared. */
  readonly commitMs: number;
};

export type Created = { readonly volume: NewVolume; readonly timing: CreationTiming };

type Waiting = {
  readonly request: CreationRequest;
  readonly audit: (() => AuditEntry) | undefined;
  readonly askedAtMs: number;
  readonly traceparent: string | undefined;
  attempt: number;
  resolve(created: Created): void;
  reject(error: unknown): void;
};

type Decided = { readonly waiting: Waiting; readonly decision: NewVolume; readonly decideMs: number };
type Outcome = 'made' | 'name-taken' | 'source-gone' | 'outdated' | PassedQuota;

export class ClusterBatcher {
  private waiting: Waiting[] = [];
  private isRunning = false;
  private cache: { fleet: FleetCache; horizon: FleetHorizon } | undefined;

  constructor(
    private readonly scope: Scope,
    private readonly place: CreationPlace,
    private readonly decide: DecideCreation,
  ) {}

  get isIdle(): boolean {
    return !this.isRunning && this.waiting.length === 0;
  }

  create(request: CreationRequest, asked: Pick<Waiting, 'audit' | 'traceparent'>): Promise<Created> {
    if (this.waiting.length >= WAITING_MAX) throw tooMany();
    return new Promise<Created>((resolve, reject) => {
      const askedAtMs = performance.now();
      this.waiting.push({ request, ...asked, askedAtMs, attempt: 1, resolve, reject });
      void this.run();
    });
  }

  private async run(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    while (this.waiting.length > 0) await this.process(this.waiting.splice(0, BATCH_MAX));
    this.isRunning = false;
  }

  /** Never throws: every outcome goes to the callers that wait. */
  private async process(batch: Waiting[]): Promise<void> {
    const startedAtMs = performance.now();
    try {
      const results = await transaction(this.scope, (sql) => this.attempt(sql, batch));
      const endedAtMs = performance.now();
      for (const [decided, outcome] of results) this.complete(decided, outcome, { startedAtMs, endedAtMs });
    } catch (error) {
      // The cache counts bookings that were rolled back: the whole fleet is read again.
      this.cache = undefined;
      await this.afterFailure(batch, error);
    }
  }

  /** One creation, or the database, failed the transaction. Each creation is tried alone, so that only the culprit fails. */
  private async afterFailure(batch: readonly Waiting[], error: unknown): Promise<void> {
    const [first] = batch;
    const isOfOne = isFault(error, 'store.conflict') || isFault(error, 'quota.exceeded');
    if (isFault(error) && !isOfOne) this.reject(batch, error);
    else if (batch.length > 1) for (const waiting of batch) await this.process([waiting]);
    else if (isFault(error, 'quota.exceeded')) first?.reject(error);
    else if (first !== undefined) this.again(first, error);
  }

  /**
   * Those behind the batch wait for the same database. If it is unavailable for long, each further transaction would find that out
   * for some of them only, and the last would wait for all of these.
   */
  private reject(batch: readonly Waiting[], error: StorageFault): void {
    const isLate = ({ askedAtMs }: Waiting) =>
      error.code === 'store.unavailable' && performance.now() - askedAtMs > WAIT_MS_MAX;
    const late = this.waiting.filter(isLate);
    this.waiting = this.waiting.filter((waiting) => !isLate(waiting));
    for (const waiting of batch) waiting.reject(error);
    for (const waiting of late) waiting.reject(away(error));
  }

  private async attempt(sql: Sql, batch: Waiting[]): Promise<Map<Decided, Outcome>> {
    const fleet = await this.refresh(sql);
    const decided = this.decideAll(batch, fleet);
    const sourced = await withSources(sql, decided);
    const disks = await lockForBooking(sql, this.place.clusterId, bookedDisks(sourced));
    const check = new BookingCheck(disks, fleet);
    const held = sourced.filter(({ decision }) => check.take(decision));
    const over = await passedQuotas(sql, held);
    const made = await this.store(
      sql,
      held.filter((one) => !over.has(one)),
    );
    return new Map(
      decided.map((one): [Decided, Outcome] => {
        if (!sourced.includes(one)) return [one, 'source-gone'];
        if (!held.includes(one)) return [one, 'outdated'];
        const passed = over.get(one);
        if (passed !== undefined) return [one, passed];
        return [one, made.has(one) ? 'made' : 'name-taken'];
      }),
    );
  }

  /** Decides one after the other, for `DECIDE_MS_MAX`; the rest waits for the next transaction. */
  private decideAll(batch: Waiting[], fleet: FleetCache): Decided[] {
    const endsAtMs = performance.now() + DECIDE_MS_MAX;
    const decided: Decided[] = [];
    for (const [index, waiting] of batch.entries()) {
      if (index > 0 && performance.now() > endsAtMs) {
        this.waiting.unshift(...batch.splice(index));
        break;
      }
      const one = this.decideOne(waiting, fleet);
      if (one !== undefined) decided.push(one);
    }
    return decided;
  }

  /** A decision that throws fails its own caller and not the batch. */
  private decideOne(waiting: Waiting, fleet: FleetCache): Decided | undefined {
    const startedAtMs = performance.now();
    try {
      const takesPlaces = waiting.attempt < ATTEMPTS_MAX;
      const decision = this.decide(waiting.request, fleet, { takesPlaces });
      return { waiting, decision, decideMs: performance.now() - startedAtMs };
    } catch (error) {
      waiting.reject(error);
      return undefined;
    }
  }

  private async refresh(sql: Sql): Promise<FleetCache> {
    const { clusterId } = this.place;
    if (this.cache !== undefined) {
      const { fleet } = this.cache;
      const { changes, horizon } = await readFleetChanges(sql, clusterId, this.cache.horizon);
      this.cache = { fleet, horizon };
      if (fleet.apply(changes)) return fleet;
    }
    const { whole, horizon } = await readWholeFleet(sql, clusterId);
    const fleet = new FleetCache(clusterId, whole);
    this.cache = { fleet, horizon };
    return fleet;
  }

  private async store(sql: Sql, held: readonly Decided[]): Promise<Set<Decided>> {
    if (held.length === 0) return new Set();
    const ids = await insertVolumes(
      sql,
      this.place,
      held.map(({ decision }) => decision),
    );
    const made = held.filter(({ decision }) => ids.has(decision.volume.id));
    if (made.length > 0) {
      const entries = made.map(({ waiting }) => waiting.audit?.()).filter((entry) => entry !== undefined);
      await insertBelongings(
        sql,
        this.place,
        made.map(({ decision }) => decision),
        { auditEntries: entries, traceparents: made.map(({ waiting }) => waiting.traceparent) },
      );
    }
    return new Set(made);
  }

  private complete(
    { waiting, decision, decideMs }: Decided,
    outcome: Outcome,
    { startedAtMs, endedAtMs }: { startedAtMs: number; endedAtMs: number },
  ): void {
    if (outcome === 'made') {
      const waitMs = startedAtMs - waiting.askedAtMs;
      const commitMs = endedAtMs - startedAtMs - decideMs;
      waiting.resolve({ volume: decision, timing: { waitMs, decideMs, commitMs } });
      return;
    }
    for (const { booking } of decision.replicas) {
      if (booking !== undefined) this.cache?.fleet.release(booking);
    }
    if (outcome === 'name-taken') waiting.reject(nameTaken('volume'));
    else if (outcome === 'source-gone') waiting.reject(sourceGone());
    else if (outcome !== 'outdated') waiting.reject(faultOf(quotaRefusal(outcome)));
    else this.again(waiting, conflict('the fleet changed between decision and booking'));
  }

  private again(waiting: Waiting, error: unknown): void {
    if (waiting.attempt >= ATTEMPTS_MAX) {
      waiting.reject(error);
      return;
    }
    waiting.attempt += 1;
    this.waiting.unshift(waiting);
  }
}

/** Leaves out clones whose source snapshot is gone. */
async function withSources(sql: Sql, decided: readonly Decided[]): Promise<Decided[]> {
  const sourceOf = ({ decision }: Decided) => fillOf(decision.volume);
  const fills = decided.map(sourceOf).filter((fill) => fill !== undefined);
  const there = await takeCloneSources(sql, fills);
  return decided.filter((one) => {
    const fill = sourceOf(one);
    return fill === undefined || there.has(fill);
  });
}

/** Those that pass a limit, one after the other: the first ones take what there is. */
async function passedQuotas(sql: Sql, held: readonly Decided[]): Promise<Map<Decided, PassedQuota>> {
  const room = await QuotaRoom.read(
    sql,
    held.map(({ decision }) => decision.volume),
  );
  const passed = new Map<Decided, PassedQuota>();
  for (const one of held) {
    const limit = room.take(one.decision.volume);
    if (limit !== undefined) passed.set(one, limit);
  }
  return passed;
}

function bookedDisks(decided: readonly Decided[]): DiskId[] {
  const replicas = decided.flatMap(({ decision }) => decision.replicas);
  return [...new Set(replicas.flatMap(({ booking }) => (booking === undefined ? [] : [booking.diskId])))];
}

/** Not the batch's own error: of those that no transaction had begun with nothing can have been made. */
function away(cause: StorageFault): StorageFault {
  return new StorageFault('store.unavailable', { publicMessage: 'the database can not be reached', cause });
}

function tooMany(): StorageFault {
  return new StorageFault('store.unavailable', { publicMessage: 'too many volumes are being created' });
}
