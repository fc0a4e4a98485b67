/**
 * Refused sign-ins in the audit log: of a wrong password, of an account that is closed for a while, of an account, link or
 * provider's answer that is unknown.
 *
 * An attempt on a known account belongs to its organization. Any other belongs to none, so it is told to the organization that
 * was made first, which runs the installation: guesses at accounts are its to see.
 */
import { createHash } from 'node:crypto';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { findFirstOrganizationId } from '@holdfast/database/queries/tenancy.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Databases } from '../platform/databases.js';
import { RefusedWrites } from '../platform/refused-writes.js';
import { traceIdOf } from '../platform/trace-id.js';

/** Enough to see which attempts were at the same account; what was typed may be a password in the wrong field. */
const ACCOUNT_HASH_LENGTH = 16;

type KnownAccount = { readonly organizationId: OrganizationId; readonly userId: string };

type RefusedSignIn = {
  /** Code of the refusal. */
  readonly reason: string;
  /** What was typed. */
  readonly account: string;
  /** Looks for whose it is; left out: an account is not what was asked for. */
  readonly find?: () => Promise<KnownAccount | undefined>;
};

@Injectable()
export class RefusedSignIns {
  private first: OrganizationId | undefined;

  constructor(
    private readonly databases: Databases,
    private readonly refused: RefusedWrites,
  ) {}

  /** Not waited for: the answer must not take longer for an account that there is, or is not. */
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

  /** Which was made first never changes once there is one. */
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
