/** OpenID providers of organizations, as their admins configure them. The client's secret is written here and never read. */
import { randomBytes } from 'node:crypto';
import type { OrganizationRole } from '@holdfast/access/permissions.js';
import type { OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import { withPlainRows } from '../plain/plain-rows.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';

/** Secret of the key that seals a browser's cookie. */
const COOKIE_KEY_BYTES = 32;

export type SignInProviderRow = {
  organizationId: OrganizationId;
  issuer: string;
  clientId: string;
  /** Of the e-mail addresses that may sign in, lower case. */
  domains: string[];
  /** Of a user at the first sign-in; never `owner`. */
  defaultRole: OrganizationRole;
  version: number;
  createdAt: Date;
};

export type SignInProviderChange = Pick<
  SignInProviderRow,
  'issuer' | 'clientId' | 'domains' | 'defaultRole'
> & {
  madeBy: UserId;
  /** Left out: as it is. */
  clientSecret?: string | undefined;
};

export function findSignInProvider(
  sql: Sql,
  organizationId: OrganizationId,
): Promise<SignInProviderRow | undefined> {
  return withPlainRows(sql, async ({ signInProvider }) => {
    const row = await signInProvider.findUnique({ where: { organizationId } });
    // The column's CHECK knows these roles only.
    return row === null
      ? undefined
      : { ...row, organizationId, defaultRole: row.defaultRole as OrganizationRole };
  });
}

/** Stores the first provider of an organization. */
export function createSignInProvider(
  sql: Sql,
  organizationId: OrganizationId,
  given: SignInProviderChange & { clientSecret: string; createdAt: Date },
): Promise<void> {
  const { clientSecret, ...row } = given;
  const cookieKey = randomBytes(COOKIE_KEY_BYTES).toString('base64');
  return withPlainRows(sql, async ({ signInProvider, signInProviderSecret }) => {
    await signInProvider.create({ data: { ...row, organizationId } });
    await signInProviderSecret.createMany({ data: [{ organizationId, clientSecret, cookieKey }] });
  });
}

/** Changes a provider that was read. Users of another issuer are signed out: the new one does not know them. */
export function changeSignInProvider(
  sql: Sql,
  before: SignInProviderRow,
  { clientSecret, ...row }: SignInProviderChange,
): Promise<void> {
  const { organizationId, version } = before;
  return withPlainRows(sql, async ({ signInProvider, signInProviderSecret }) => {
    const { count } = await signInProvider.updateMany({
      where: { organizationId, version },
      data: { ...row, version: { increment: 1 } },
    });
    if (count !== 1) throw conflict('another request has changed it meanwhile');
    if (clientSecret !== undefined)
      await signInProviderSecret.updateMany({ where: { organizationId }, data: { clientSecret } });
    if (row.issuer !== before.issuer) await endManagedSessions(sql, organizationId);
  });
}

/** Deletes the provider. Its accounts stay as members, and are signed out. */
export function deleteSignInProvider(sql: Sql, organizationId: OrganizationId): Promise<void> {
  return withPlainRows(sql, async ({ signInProvider }) => {
    await signInProvider.deleteMany({ where: { organizationId } });
    await endManagedSessions(sql, organizationId);
  });
}

/** Ends all sessions of the accounts that the organization's provider vouched for. */
function endManagedSessions(sql: Sql, organizationId: OrganizationId): Promise<void> {
  return withPlainRows(sql, async ({ token }) => {
    await token.deleteMany({
      where: { organizationId, kind: 'session', user: { managedBy: organizationId } },
    });
  });
}
