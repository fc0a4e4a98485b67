/**
 * Quotas of requests: how many this process answers in a minute, for an organization and for the project of a token. Each api
 * process counts its own, so that no request waits for Postgres because of them.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { findRequestQuotas, type QuotaOwner } from '@holdfast/database/queries/quotas.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Injectable } from '@nestjs/common';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Databases } from '../platform/databases.js';
import type { UserActor } from './actor.js';

const WINDOW_SECONDS = 60;
/** A changed quota takes effect within this. */
const KEPT_MS = 5_000;
/** Organizations whose quotas are kept; forgetting them all costs a query each. */
const ORGANIZATIONS_MAX = 10_000;

type Limits = ReadonlyMap<QuotaOwner, number>;
type Limiter = { readonly most: number; readonly counts: RateLimiterMemory };

@Injectable()
export class RequestQuotas {
  private readonly known = new Map<OrganizationId, { readonly untilMs: number; limits: Promise<Limits> }>();
  private readonly limiters = new Map<QuotaOwner, Limiter>();

  constructor(private readonly databases: Databases) {}

  /**
   * @param count how many requests it is worth: a GraphQL operation is one for each of its root fields
   * @throws StorageFault `request.rate_limited` that says when to try again
   */
  async take({ organizationId, projectId }: UserActor, count = 1): Promise<void> {
    if (count < 1) return;
    const limits = await this.limitsOf(organizationId);
    if (limits.size === 0) return;
    for (const owner of [organizationId, projectId]) {
      const most = owner === undefined ? undefined : limits.get(owner);
      if (owner === undefined || most === undefined) continue;
      const scope = owner === organizationId ? 'organization' : 'project';
      await this.limiter(owner, most)
        .consume(owner, count)
        .catch((reason: unknown) => {
          throw reason instanceof RateLimiterRes ? limited(scope, most, reason) : reason;
        });
    }
  }

  private limitsOf(organizationId: OrganizationId): Promise<Limits> {
    const nowMs = performance.now();
    const found = this.known.get(organizationId);
    if (found !== undefined && found.untilMs > nowMs) return found.limits;
    if (this.known.size >= ORGANIZATIONS_MAX) this.known.clear();
    const scope = this.databases.organization(organizationId);
    const limits = transaction(scope, (sql) => findRequestQuotas(sql));
    this.known.set(organizationId, { untilMs: nowMs + KEPT_MS, limits });
    // A database that is away is asked again with the next request.
    limits.catch(() => this.known.delete(organizationId));
    return limits;
  }

  private limiter(owner: QuotaOwner, most: number): RateLimiterMemory {
    const known = this.limiters.get(owner);
    if (known?.most === most) return known.counts;
    if (this.limiters.size >= ORGANIZATIONS_MAX) this.limiters.clear();
    const counts = new RateLimiterMemory({ points: most, duration: WINDOW_SECONDS });
    this.limiters.set(owner, { most, counts });
    return counts;
  }
}

function limited(scope: string, most: number, { msBeforeNext }: RateLimiterRes): StorageFault {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new StorageFault('request.rate_limited', {
    publicMessage: `the ${scope} may make ${most} requests in a minute; try again in ${retryAfterSeconds} s`,
    cures: [`ask an admin to raise the quota of the ${scope}`],
    retryAfterSeconds,
  });
}
