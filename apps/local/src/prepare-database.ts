import { systemRandom } from '@holdfast/database/clock-and-random.js';
import { ensureAuthorities } from '@holdfast/database/identity/authorities.js';
import { makeFirstJoinTokens } from '@holdfast/database/identity/first-join-tokens.js';
import { migrate } from '@holdfast/database/migrate.js';
import { storeFirstLink } from '@holdfast/database/queries/first-account.js';
import { prepareRoles, type RolePasswords, type RoleUrls } from '@holdfast/database/roles.js';
import {
  type LocalSeed,
  type SeedSecrets,
  seedLocal,
  seedWithoutAdmin,
} from '@holdfast/database/seed-local.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import { type Scope, systemScope, transaction } from '@holdfast/database/sql/scope.js';
import { signingAuthority } from '@holdfast/identity/authority-roles.js';
import { fingerprintOf } from '@holdfast/identity/certificate.js';
import { joinTokenText, parseJoinToken } from '@holdfast/identity/join-token.js';

type Places = Pick<LocalSeed, 'organizationId' | 'projectId' | 'clusterId'>;

type Prepared<Seed extends Places> = RoleUrls &
  Seed & {
    /** SHA-256 of the certificate of the control plane's authority: what join tokens end in. */
    fingerprint: string;
    /** Names of the migrations that were applied now. */
    migrations: string[];
  };

/** With an administrator. */
export type PreparedDatabase = Prepared<Places & Pick<LocalSeed, 'email'>>;

/** Prepares a database: newest schema, roles that can sign in, and the objects that a stack starts with. Repeatable. */
export function prepareDatabase(
  ownerUrl: string,
  secrets: SeedSecrets,
  passwords?: RolePasswords,
): Promise<PreparedDatabase> {
  return prepare(ownerUrl, passwords, async (systemUrl) => {
    const { organizationId, projectId, clusterId, email } = await seedLocal(systemUrl, secrets);
    return { organizationId, projectId, clusterId, email };
  });
}

/**
 * The same without an administrator. As long as there is none, each run makes another one-time link in the place of the one
 * before.
 */
export function prepareFreshDatabase(
  ownerUrl: string,
  agentToken: string | undefined,
  passwords: RolePasswords,
): Promise<Prepared<Places & { firstSecret: string | undefined }>> {
  return prepare(ownerUrl, passwords, async (systemUrl) => {
    const places = await seedWithoutAdmin(systemUrl, agentToken);
    const secret = `hfl_${systemRandom.secret()}`;
    const link = { organizationId: places.organizationId, secret, now: new Date() };
    const isStored = await asSystem(systemUrl, (scope) =>
      transaction(scope, (sql) => storeFirstLink(sql, link)),
    );
    return { ...places, firstSecret: isStored ? secret : undefined };
  });
}

async function prepare<Seed extends Places>(
  ownerUrl: string,
  passwords: RolePasswords | undefined,
  seed: (systemUrl: string) => Promise<Seed>,
): Promise<Prepared<Seed>> {
  const migrations = await migrate(ownerUrl);
  const urls = await prepareRoles(ownerUrl, passwords);
  const seeded = await seed(urls.systemUrl);
  return { ...urls, ...seeded, fingerprint: await authorityFingerprint(urls.systemUrl), migrations };
}

/** Text of a join token that agents of this control plane are given. */
export function withFingerprint(agentToken: string, fingerprint: string): string {
  return joinTokenText({ secret: parseJoinToken(agentToken).secret, fingerprint });
}

/**
 * Join tokens for nodes that have not joined yet, each good once, in the place of those that an earlier run made.
 *
 * @returns text by node name, without the nodes that have joined
 */
export async function prepareNodes(
  prepared: Prepared<Places>,
  nodeNames: readonly string[],
): Promise<Map<string, string>> {
  const { systemUrl, clusterId, fingerprint } = prepared;
  const secrets = await asSystem(systemUrl, (scope) =>
    makeFirstJoinTokens(scope, clusterId, nodeNames, new Date()),
  );
  return new Map([...secrets].map(([name, secret]) => [name, joinTokenText({ secret, fingerprint })]));
}

/** Makes the certificate authority where there is none: agents have to know it before they first meet the API. */
function authorityFingerprint(systemUrl: string): Promise<string> {
  return asSystem(systemUrl, async (scope) => {
    const now = new Date();
    const authorities = await ensureAuthorities(scope, now);
    const signing = signingAuthority(authorities, now);
    if (signing === undefined) throw new Error('the database has no certificate authority that signs');
    return fingerprintOf(signing.certificatePem);
  });
}

async function asSystem<T>(systemUrl: string, work: (scope: Scope) => Promise<T>): Promise<T> {
  const pool = createPool(systemUrl, { connectionsMax: 1, applicationName: 'holdfast-prepare' });
  try {
    return await work(systemScope(pool));
  } finally {
    await pool.end();
  }
}
