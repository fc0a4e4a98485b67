import type { UseCasePorts } from '@holdfast/control/use-cases/use-case.js';
import type { ClusterId, ProjectId } from '@holdfast/core/model/ids.js';
import {
  type AuditTarget,
  changesBetween,
  type FieldChanges,
  readTarget,
  type TargetRow,
} from '@holdfast/database/audit/target-row.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { type AuditEntry, writeAuditEntry } from '@holdfast/database/queries/audit.js';
import { eventsOfTransaction, type StoredEvent } from '@holdfast/database/queries/events.js';
import {
  rehearsal,
  type Scope,
  type ScopeLimits,
  type Sql,
  snapshot,
  transaction,
} from '@holdfast/database/sql/scope.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import type { UserActor } from './actor.js';

/** Facts of a request for the audit log, and an id for the object that it creates. */
export type RequestFacts = {
  requestId: string;
  /** Where it came from. */
  address: string;
  /** Trace id of the caller's request; empty: none. */
  traceId: string;
  action: string;
  /** The ids in the address, outermost first. */
  parameters: Readonly<Record<string, string>>;
  /** Id for the created object: the same when the request is repeated with the same Idempotency-Key. */
  resourceId?: string | undefined;
  /** Aborted when the caller no longer waits for the answer. */
  gone: AbortSignal;
};

/** Results of a request's dry-run transactions, collected before each is rolled back. */
export type Rehearsed = {
  readonly changes: FieldChanges[];
  readonly events: StoredEvent[];
};

/** Arguments of fields that are in a route's address: ids, and names of objects without an id. */
const NAMES_TARGET = /(?:Id|^name|Name)$/;
const NO_LIMITS: ScopeLimits = { clusterIds: undefined, projectIds: undefined };

/** One request's view of the database: its organization's rows, and every change with its audit entry. */
export class Tenant {
  /** Rows of the target as transactions found them. */
  private readonly before = new WeakMap<Sql, TargetRow>();
  private created: string | undefined;

  constructor(
    readonly actor: UserActor,
    private readonly scope: Scope,
    private readonly request: RequestFacts,
    /** Set in a dry run: collects the results of its transactions. */
    readonly rehearsed?: Rehearsed,
  ) {}

  /** The same caller, in a dry run: its changes are rolled back. */
  rehearsing(): Tenant {
    return new Tenant(this.actor, this.scope, this.request, { changes: [], events: [] });
  }

  /** Writes the audit entry of a dry run, the only trace that it leaves. */
  noteDryRun(): Promise<void> {
    return transaction(this.scope, (sql) => writeAuditEntry(sql, { ...this.auditEntry(), isDry: true }));
  }

  /** The same caller, with the audit log's name for one field of a GraphQL request. */
  ofField(action: string, given: Readonly<Record<string, unknown>>): Tenant {
    const parameters = Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) =>
        NAMES_TARGET.test(name) && typeof value === 'string' ? [[name, value] as const] : [],
      ),
    );
    return new Tenant(this.actor, this.scope, { ...this.request, action, parameters }, this.rehearsed);
  }

  /** The same caller, limited to these projects. */
  within(projectIds: readonly ProjectId[]): Tenant {
    const { clusterIds, projectIds: own } = this.scope.limits ?? NO_LIMITS;
    const both = own === undefined ? projectIds : projectIds.filter((id) => own.includes(id));
    const scope = { ...this.scope, limits: { clusterIds, projectIds: both } };
    return new Tenant(this.actor, scope, this.request, this.rehearsed);
  }

  /** The projects that this caller sees; `undefined`: all of the organization. */
  get projectIds(): readonly ProjectId[] | undefined {
    return this.scope.limits?.projectIds;
  }

  /** The clusters that this caller sees; `undefined`: all of the organization. */
  get clusterIds(): readonly ClusterId[] | undefined {
    return this.scope.limits?.clusterIds;
  }

  /** The request's span, for work that it causes elsewhere. */
  get traceparent(): string | undefined {
    return this.scope.traceparent;
  }

  get now(): Date {
    return systemClock.now();
  }

  /** The id that an Idempotency-Key reserves for the created object: an earlier try may have created it already. */
  get reservedId(): string | undefined {
    return this.request.resourceId;
  }

  /** Aborted when the caller no longer waits: work for the answer alone may end. */
  get gone(): AbortSignal {
    return this.request.gone;
  }

  /** An id for the object that this request creates. */
  newId(): string {
    this.created = this.reservedId ?? systemRandom.id();
    return this.created;
  }

  newSecret(): string {
    return systemRandom.secret();
  }

  read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return snapshot(this.scope, work);
  }

  /**
   * As `read`, for a page of a list.
   * @param filter of that list: without one, one query plan suits every page
   */
  readPage<T>(filter: string | undefined, work: (sql: Sql) => Promise<T>): Promise<T> {
    return snapshot({ ...this.scope, plans: filter === undefined ? 'general' : undefined }, work);
  }

  /** As `read`, with the fleets of granted clusters, for the organization's own volumes there. */
  readGranted<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return snapshot({ ...this.scope, granted: true }, work);
  }

  /** @param target of the change, if not the innermost object of the address */
  write<T>(work: (sql: Sql) => Promise<T>, target = this.target): Promise<T> {
    const run = this.rehearsed === undefined ? transaction : rehearsal;
    return run(this.scope, async (sql) => {
      await this.noteBefore(sql, target);
      const result = await work(sql);
      await this.audit(sql, target);
      return result;
    });
  }

  /** For use cases about clusters and nodes, which have to be the organization's own. */
  get ports(): UseCasePorts {
    return this.portsIn(this.scope);
  }

  /** For use cases about the organization's volumes, which may be in clusters that were granted to it. */
  get volumePorts(): UseCasePorts {
    return this.portsIn({ ...this.scope, granted: true });
  }

  private portsIn(scope: Scope): UseCasePorts {
    const store = new PostgresStore(scope, {
      beforeChanges: (sql) => this.noteBefore(sql),
      afterChanges: (sql) => this.audit(sql),
      isRehearsal: this.rehearsed !== undefined,
    });
    return { store, clock: systemClock, random: { id: this.firstResourceId(), secret: systemRandom.secret } };
  }

  /** A use case's first id is that of the created object; further ids are fresh. */
  private firstResourceId(): () => string {
    let given = this.request.resourceId;
    return () => {
      const id = given ?? systemRandom.id();
      given = undefined;
      this.created ??= id;
      return id;
    };
  }

  private async noteBefore(sql: Sql, target = this.target): Promise<void> {
    const row = await this.readTarget(sql, target);
    if (row !== undefined) this.before.set(sql, row);
  }

  private async audit(sql: Sql, target = this.target): Promise<void> {
    const changes = changesBetween(this.before.get(sql), await this.readTarget(sql, target));
    if (this.rehearsed === undefined) return writeAuditEntry(sql, { ...this.auditEntry(), target, changes });
    this.rehearsed.changes.push(changes);
    this.rehearsed.events.push(...(await eventsOfTransaction(sql)));
  }

  private readTarget(sql: Sql, target: AuditTarget): Promise<TargetRow | undefined> {
    return readTarget(sql, target, this.request.parameters.clusterId);
  }

  /** The innermost object in the address. */
  private get target(): AuditTarget {
    const [parameter, id] = Object.entries(this.request.parameters).at(-1) ?? [
      'organizationId',
      this.actor.organizationId,
    ];
    return { kind: parameter === 'name' ? 'setting' : parameter.replace(/Id$/, ''), id };
  }

  /** The audit entry of this request. */
  auditEntry(): AuditEntry {
    const { requestId, address, traceId, action, parameters } = this.request;
    const { organizationId, tokenKind, userId, tokenId } = this.actor;
    return {
      organizationId,
      actor: { kind: `user/${tokenKind}`, id: userId },
      address,
      action,
      target: this.target,
      requestId,
      traceId,
      detail: {
        ...parameters,
        tokenId,
        ...(this.rehearsed === undefined ? {} : { dryRun: true }),
        ...(this.created === undefined ? {} : { created: this.created }),
      },
      at: this.now,
    };
  }
}
