/** Creates sessions for authenticated users; the cookie carries the secret. */

import type { OrganizationRole } from '@holdfast/access/permissions.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type OrganizationId, type TokenId, type UserId } from '@holdfast/core/model/ids.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { type AuditEntry, writeAuditEntry } from '@holdfast/database/queries/audit.js';
import { createToken, NO_LIMITS } from '@holdfast/database/queries/tokens.js';
import { type Scope, type Sql, transaction } from '@holdfast/database/sql/scope.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieName, cookieOptions } from '../../access/cookies.js';
import { newTokenSecret } from '../../access/token-secret.js';
import type { Config } from '../../config/config.js';

const SESSION_HOURS = 24 * 7;
/** Longest part of a program's own description that is kept. */
const PROGRAM_CHARS_MAX = 200;

type SessionUser = { userId: UserId; organizationId: OrganizationId; role: OrganizationRole };

type Opening = {
  /** Audit entry of the sign-in, in the same transaction. */
  readonly audit: AuditEntry;
  /**
   * Is the user's proof, such as the password, still valid? Checked last: by then the session's row has locked its user. A concurrent
   * change of the proof is either committed, or finds the new session when it ends sessions.
   */
  readonly isStillProven: (sql: Sql) => Promise<boolean>;
  readonly config: Pick<Config, 'cookieSecure'>;
  readonly reply: FastifyReply;
};

/** @throws StorageFault `auth.invalid` when the user's proof has become invalid meanwhile */
export async function openSession(
  scope: Scope,
  user: SessionUser,
  { audit, isStillProven, config, reply }: Opening,
): Promise<{ readonly secret: string; readonly expiresAt: Date }> {
  const secret = newTokenSecret('session');
  const now = systemClock.now();
  const expiresAt = new Date(now.getTime() + SESSION_HOURS * 3_600_000);
  const id = asId<TokenId>(systemRandom.id());
  await transaction(scope, async (sql) => {
    await writeAuditEntry(sql, { ...audit, detail: { ...audit.detail, tokenId: id } });
    const token = { ...user, id, kind: 'session' as const, name: 'session', secret };
    const life = { projectId: undefined, expiresAt, now };
    await createToken(sql, { ...token, ...life, ...NO_LIMITS, madeFrom: madeFrom(reply.request) });
    if (!(await isStillProven(sql))) throw endedMeanwhile();
  });
  const { request } = reply;
  const options = { ...cookieOptions(request, config), expires: expiresAt };
  void reply.setCookie(cookieName('session', request, config), secret, options);
  return { secret, expiresAt };
}

export function endedMeanwhile(): StorageFault {
  return new StorageFault('auth.invalid', {
    publicMessage: 'the password was changed, or the session ended, at the same moment',
    cures: ['sign in again'],
  });
}

/** Description of the session for its user: its address and program. */
function madeFrom({ ip, headers }: FastifyRequest): string {
  return `${ip} ${headers['user-agent'] ?? ''}`.trim().slice(0, PROGRAM_CHARS_MAX);
}
