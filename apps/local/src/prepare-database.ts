import { ensureAuthorities } from '@holdfast/database/identity/authorities.js';
import { migrate } from '@holdfast/database/migrate.js';
import { prepareRoles, type RolePasswords, type RoleUrls } from '@holdfast/database/roles.js';
import { type LocalSecrets, type LocalSeed, seedLocal } from '@holdfast/database/seed-local.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { signingAuthority } from '@holdfast/identity/authority-roles.js';
import { fingerprintOf } from '@holdfast/identity/certificate.js';
import { joinTokenText, parseJoinToken } from '@holdfast/identity/join-token.js';

export type PreparedDatabase = RoleUrls &
  Pick<LocalSeed, 'organizationId' | 'projectId' | 'clusterId' | 'email'> & {
    /** Join token of the agents, with the fingerprint of the control plane's certificate authority. */
    joinToken: string;
    /** Names of the migrations that were applied now. */
    migrations: string[];
  };

/** Prepares a database: newest schema, roles that can sign in, and the objects that a stack starts with. Repeatable. */
export async function prepareDatabase(
  ownerUrl: string,
  secrets: LocalSecrets,
  passwords?: RolePasswords,
): Promise<PreparedDatabase> {
  const migrations = await migrate(ownerUrl);
  const urls = await prepareRoles(ownerUrl, passwords);
  const { organizationId, projectId, clusterId, email } = await seedLocal(urls.systemUrl, secrets);
  const { secret } = parseJoinToken(secrets.agentToken);
  const joinToken = joinTokenText({ secret, fingerprint: await authorityFingerprint(urls.systemUrl) });
  return { ...urls, organizationId, projectId, clusterId, email, joinToken, migrations };
}

/** Makes the certificate authority where there is none: agents have to know it before they first meet the API. */
async function authorityFingerprint(systemUrl: string): Promise<string> {
  const pool = createPool(systemUrl, { connectionsMax: 1, applicationName: 'holdfast-prepare' });
  try {
    const now = new Date();
    const authorities = await ensureAuthorities(systemScope(pool), now);
    const signing = signingAuthority(authorities, now);
    if (signing === undefined) throw new Error('the database has no certificate authority that signs');
    return fingerprintOf(signing.certificatePem);
  } finally {
    await pool.end();
  }
}
