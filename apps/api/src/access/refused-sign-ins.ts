/**
 * Refused sign-ins in the audit log: of a wrong password, of an account that is closed for a while, of an account, link, invitation,
 * program's code or provider's answer that is unknown.
 *
 * An attempt on a known account belongs to its organization. Any other belongs to none, so it is recorded for the first organization, which
 * runs the installation and has to see guesses at accounts.
 */
import { createHash } from 'node:crypto';
import { isFault } from '@holdfast/core/model/faults.js';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { findFirstOrganizationId } from '@holdfast/database/queries/tenancy.js';
import { findSignIn } from '@holdfast/database/queries/tokens.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Databases } from '../http/databases.js';
import { traceIdOf } from '../http/trace-id.js';
import { RefusedWrites } from './refused-writes.js';
import type { SignInLimits } from './sign-in-limits.js';

/** Enough to see which attempts were at the same account; what was typed may be a password in the wrong field. */
const ACCOUNT_HASH_LENGTH = 16;

type KnownAccount = { readonly organizationId: OrganizationId; readonly userId: string };

/** What a sign-in is attempted with. */
type Attempted = {
  /** What was typed. */
  readonly account: string;
  /** Looks for whose it is; left out: an account is not what was asked for. */
  readonly find?: () => Promise<KnownAccount | undefined>;
};

type RefusedSignIn = Attempted & {
  /** Code of the refusal. */
  readonly reason: string;
};

@Injectable()
export class RefusedSignIns {
  private first: OrganizationId | undefined;

  constructor(
    private readonly databases: Databases,
    private readonly refused: RefusedWrites,
  ) {}

  /** Runs an attempt within the limits on guessing. Its refusals are recorded, and once that the limit was reached. */
  attempt<T>(
    request: FastifyRequest,
    limits: SignInLimits,
    attempted: Attempted,
    check: () => Promise<T>,
  ): Promise<T> {
    return limits.attempt(
      { account: attempted.account, address: request.ip },
      () => this.noting(request, attempted, check),
      () => this.note(request, { ...attempted, reason: 'request.rate_limited' }),
    );
  }

  /** Runs a check, and records its refusal. An unreachable database is no refusal: the client tries again. */
  async noting<T>(request: FastifyRequest, attempted: Attempted, check: () => Promise<T>): Promise<T> {
    try {
      return await check();
    } catch (error) {
      if (isFault(error) && error.traits.retry === 'never') {
        this.note(request, { ...attempted, reason: error.code });
      }
      throw error;
    }
  }

  /** The account of an e-mail address, in the organization, or else in the one that it joined first. */
  async findAccount(email: string, organizationId?: OrganizationId): Promise<KnownAccount | undefined> {
    const found = await findSignIn(this.databases.signIn, { email, organizationId });
    return found && { organizationId: found.organization_id, userId: found.user_id };
  }

  /** Not awaited: the duration of the answer must not reveal whether the account exists. */
  note(request: FastifyRequest, refusal: RefusedSignIn): void {
    const at = systemClock.now();
    const write = async () => {
      const known = await refusal.find?.();
      const organizationId = known?.organizationId ?? (await this.firstOrganization());
      if (organizationId === undefined) return;
      this.refused.note({ ...entryOf(request, refusal, known), organizationId, at });
    };
    write().catch((error: unknown) => {
      request.log.warn({ err: error }, 'a refused sign-in could not be put into the audit log');
    });
  }

  /** Cached: the first organization never changes. */
  private async firstOrganization(): Promise<OrganizationId | undefined> {
    this.first ??= await transaction(this.databases.system(), findFirstOrganizationId);
    return this.first;
  }
}

function entryOf(
  request: FastifyRequest,
  { reason, account }: RefusedSignIn,
  known: KnownAccount | undefined,
) {
  const hash = createHash('sha256').update(account.trim().toLowerCase()).digest('hex');
  return {
    actor: known === undefined ? { kind: 'unknown', id: '' } : { kind: 'user/session', id: known.userId },
    address: request.ip,
    action: `${request.method} ${request.routeOptions.url ?? request.url}`,
    target: { kind: 'user', id: known?.userId ?? '' },
    requestId: request.id,
    traceId: traceIdOf(request),
    detail: known === undefined ? { accountHash: hash.slice(0, ACCOUNT_HASH_LENGTH) } : {},
    reason,
  };
}
