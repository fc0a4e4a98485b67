/**
 * Quotas of requests per minute over all API processes, for an organization and for the project of a token. Each process takes permits in
 * leases from a row in Postgres, so that few requests wait for the database (docs/design/tenancy-and-access.md).
 */

import type { LeaseAnswer } from '@holdfast/access/request-permits.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { findRequestQuotas, type QuotaOwner } from '@holdfast/database/queries/quotas.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { Databases } from '../http/databases.js';
import { LOGGER } from '../http/tokens.js';
import type { UserActor } from './actor.js';
import { PermitLeases } from './permit-leases.js';
import { type NamedQuota, tellQuotas } from './rate-limit-headers.js';

const WINDOW_SECONDS = 60;
/** Maximum delay until a changed quota takes effect. */
const KEPT_MS = 5_000;
/** Maximum number of cached organizations; forgetting them all costs a query each, and the remaining permits. */
const ORGANIZATIONS_MAX = 10_000;

type Limits = ReadonlyMap<QuotaOwner, number>;

@Injectable()
export class RequestQuotas {
  private readonly known = new Map<OrganizationId, { readonly untilMs: number; limits: Promise<Limits> }>();
  private readonly leases = new Map<QuotaOwner, PermitLeases>();
  private readonly counts: RateLimiterPostgres;

  constructor(
    private readonly databases: Databases,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.counts = new RateLimiterPostgres({
      storeClient: databases.signIn,
      storeType: 'pool',
      tableName: 'request_permit',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix: 'minute',
      // Only counts: each quota has a limit of its own.
      points: 0,
      duration: WINDOW_SECONDS,
    });
  }

  /**
   * Takes permits for a request, and sets the headers with the remaining number, refused or not.
   *
   * @param count number of requests that it counts as: a GraphQL operation is one for each of its root fields
   * @throws StorageFault `request.rate_limited` with the time of the next try
   */
  async take({ organizationId, projectId }: UserActor, reply: FastifyReply, count = 1): Promise<void> {
    if (count < 1) return;
    const limits = await this.limitsOf(organizationId);
    if (limits.size === 0) return;
    const quotas = [
      ...this.quotaOf('organization', organizationId, limits),
      ...this.quotaOf('project', projectId, limits),
    ];
    try {
      for (const { name, leases } of quotas) {
        const retryAfterMs = await leases.take(count);
        if (retryAfterMs !== undefined) throw limited(name, leases.quota.limit, retryAfterMs);
      }
    } finally {
      tellQuotas(reply, quotas);
    }
  }

  /** The owner's quota, or none. */
  private quotaOf(name: NamedQuota['name'], owner: QuotaOwner | undefined, limits: Limits): NamedQuota[] {
    const most = owner === undefined ? undefined : limits.get(owner);
    return owner === undefined || most === undefined ? [] : [{ name, leases: this.leasesOf(owner, most) }];
  }

  private limitsOf(organizationId: OrganizationId): Promise<Limits> {
    const nowMs = performance.now();
    const found = this.known.get(organizationId);
    if (found !== undefined && found.untilMs > nowMs) return found.limits;
    if (this.known.size >= ORGANIZATIONS_MAX) this.known.clear();
    const scope = this.databases.organization(organizationId);
    const limits = transaction(scope, (sql) => findRequestQuotas(sql));
    this.known.set(organizationId, { untilMs: nowMs + KEPT_MS, limits });
    // After a failure the next request queries again.
    limits.catch(() => this.known.delete(organizationId));
    return limits;
  }

  private leasesOf(owner: QuotaOwner, limit: number): PermitLeases {
    const known = this.leases.get(owner);
    if (known?.quota.limit === limit) return known;
    if (this.leases.size >= ORGANIZATIONS_MAX) this.leases.clear();
    // Permits taken before a change of the limit count: the row is the same.
    const made = new PermitLeases({ limit, windowMs: WINDOW_SECONDS * 1_000 }, (size) =>
      this.lease(owner, size),
    );
    this.leases.set(owner, made);
    return made;
  }

  private async lease(owner: QuotaOwner, size: number): Promise<LeaseAnswer | undefined> {
    try {
      const { consumedPoints, msBeforeNext } = await this.counts.penalty(owner, size);
      return { size, takenInAll: consumedPoints, endsAtMs: performance.now() + msBeforeNext };
    } catch (error) {
      this.log.warn({ err: error }, 'requests are counted without the other api processes: no lease');
      return undefined;
    }
  }
}

function limited(scope: string, most: number, retryAfterMs: number): StorageFault {
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return new StorageFault('request.rate_limited', {
    publicMessage: `the ${scope} may make ${most} requests in a minute; try again in ${retryAfterSeconds} s`,
    cures: [`ask an admin to raise the quota of the ${scope}`],
    retryAfterSeconds,
  });
}
