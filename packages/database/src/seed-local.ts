import { asId, type ClusterId, type OrganizationId, type ProjectId } from '@holdfast/core/model/ids.js';
import { parseJoinToken } from '@holdfast/identity/join-token.js';
import pg from 'pg';
import { systemRandom } from './clock-and-random.js';
import { hashPassword, hashSecret, verifyPassword } from './credentials.js';

/**
 * Names of the created objects. A database may have several such organizations; users' addresses and organizations' names are unique
 * in it.
 */
export type SeedNames = { organization: string; email: string; project: string; cluster: string };

const LOCAL_NAMES: SeedNames = {
  organization: 'Local',
  email: 'admin@holdfast.local',
  project: 'default',
  cluster: 'local',
};
const JOIN_TOKEN = 'local agents';
/** Nodes of new names that may join with it in all. */
const LOCAL_JOINS_MAX = 64;

/** The caller keeps these in a file of its own; the database keeps only their hashes. */
export type LocalSecrets = { password: string; token: string; agentToken: string };

/** The same where nodes may join by tokens of their own: then `agentToken`, which lets any new node join, is `undefined`. */
export type SeedSecrets = Omit<LocalSecrets, 'agentToken'> & { agentToken: string | undefined };

export type LocalSeed = SeedSecrets & {
  organizationId: OrganizationId;
  projectId: ProjectId;
  clusterId: ClusterId;
  email: string;
};

type Places = Pick<LocalSeed, 'organizationId' | 'projectId' | 'clusterId'>;

/**
 * Creates the start state of a local stack: one organization, its admin, one project and one cluster, and the token of the admin and
 * the join token of the agents. Repeating it changes nothing; other secrets replace the old ones.
 *
 * @param systemUrl connects as the system role
 */
export function seedLocal(
  systemUrl: string,
  secrets: SeedSecrets,
  names: SeedNames = LOCAL_NAMES,
): Promise<LocalSeed> {
  return inTransaction(systemUrl, async (client) => {
    const places = await ensurePlaces(client, names, secrets.agentToken);
    const { organizationId } = places;
    const { email } = names;
    const userId = await ensureAdmin(client, { organizationId, email, password: secrets.password });
    const token = { organizationId, name: 'local admin', kind: 'api', role: 'owner' };
    await ensureToken(client, { ...token, userId, secret: secrets.token });
    return { ...places, email, ...secrets };
  });
}

/** Makes the same without any account: the first one is made by a one-time link. */
export function seedWithoutAdmin(systemUrl: string, agentToken: string | undefined): Promise<Places> {
  return inTransaction(systemUrl, (client) => ensurePlaces(client, LOCAL_NAMES, agentToken));
}

async function ensurePlaces(
  client: pg.Client,
  names: SeedNames,
  agentToken: string | undefined,
): Promise<Places> {
  const organizationId = await ensureOrganization(client, names);
  const projectId = await ensurePart(client, 'project', organizationId, names);
  const clusterId = await ensurePart(client, 'cluster', organizationId, names);
  if (agentToken !== undefined) {
    const { secret } = parseJoinToken(agentToken);
    await ensureJoinToken(client, { organizationId, clusterId, secret });
  }
  return {
    organizationId: asId<OrganizationId>(organizationId),
    projectId: asId<ProjectId>(projectId),
    clusterId: asId<ClusterId>(clusterId),
  };
}

async function inTransaction<T>(systemUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: systemUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    const made = await work(client);
    await client.query('COMMIT');
    return made;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    await client.end();
  }
}

/**
 * Finds the organization of the installation, or makes it. A name is its owners' to change, so that it is known by being the oldest;
 * of those that tests make beside each other it is known by its name.
 */
async function ensureOrganization(client: pg.Client, names: SeedNames): Promise<string> {
  const { organization: name } = names;
  const there = names === LOCAL_NAMES ? await oldestOf(client, 'organization') : undefined;
  if (there !== undefined) return there;
  await client.query(
    `INSERT INTO organization (id, name, created_at) VALUES ($1, $2, now()) ON CONFLICT (name) DO NOTHING`,
    [systemRandom.id(), name],
  );
  return idOf(client, 'SELECT id FROM organization WHERE name = $1', [name]);
}

async function ensureAdmin(
  client: pg.Client,
  { organizationId, email, password }: { organizationId: string; email: string; password: string },
): Promise<string> {
  await client.query(
    `INSERT INTO app_user (id, email, name, created_at) VALUES ($1, $2, 'Administrator', now())
     ON CONFLICT (email) DO NOTHING`,
    [systemRandom.id(), email],
  );
  const { rows } = await client.query<{ id: string; password_hash: string | null }>(
    'SELECT id, password_hash FROM app_user WHERE email = $1 FOR UPDATE',
    [email],
  );
  const user = rows[0];
  if (user === undefined) throw new Error(`the user ${email} vanished while it was being made`);
  if (user.password_hash === null || !(await verifyPassword(user.password_hash, password))) {
    await client.query('UPDATE app_user SET password_hash = $2 WHERE id = $1', [
      user.id,
      await hashPassword(password),
    ]);
  }
  await client.query(
    `INSERT INTO membership (organization_id, user_id, role, created_at) VALUES ($1, $2, 'owner', now())
     ON CONFLICT (organization_id, user_id) DO NOTHING`,
    [organizationId, user.id],
  );
  return user.id;
}

/** As of organizations: renamed, it is the same one. */
async function ensurePart(
  client: pg.Client,
  table: 'project' | 'cluster',
  organizationId: string,
  names: SeedNames,
): Promise<string> {
  const name = names[table];
  const there = names === LOCAL_NAMES ? await oldestOf(client, table, organizationId) : undefined;
  if (there !== undefined) return there;
  await client.query(
    `INSERT INTO ${table} (id, organization_id, name, created_at) VALUES ($1, $2, $3, now())
     ON CONFLICT (organization_id, name) DO NOTHING`,
    [systemRandom.id(), organizationId, name],
  );
  return idOf(client, `SELECT id FROM ${table} WHERE organization_id = $1 AND name = $2`, [
    organizationId,
    name,
  ]);
}

/** A token of that name with another secret is replaced: the caller's file is what counts. */
async function ensureToken(
  client: pg.Client,
  token: {
    organizationId: string;
    name: string;
    kind: string;
    role: string;
    userId: string;
    secret: string;
  },
): Promise<void> {
  const secretHash = hashSecret(token.secret);
  await client.query(
    'DELETE FROM token WHERE organization_id = $1 AND name = $2 AND kind = $3 AND secret_hash <> $4',
    [token.organizationId, token.name, token.kind, secretHash],
  );
  await client.query(
    `INSERT INTO token (id, organization_id, kind, name, secret_hash, role, user_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, now()) ON CONFLICT (secret_hash) DO NOTHING`,
    [systemRandom.id(), token.organizationId, token.kind, token.name, secretHash, token.role, token.userId],
  );
}

/** The local agents' join token: for any new names, up to so many, as long as its owner keeps the secret. */
async function ensureJoinToken(
  client: pg.Client,
  token: { organizationId: string; clusterId: string; secret: string },
): Promise<void> {
  const secretHash = hashSecret(token.secret);
  await client.query('DELETE FROM join_token WHERE cluster_id = $1 AND name = $2 AND secret_hash <> $3', [
    token.clusterId,
    JOIN_TOKEN,
    secretHash,
  ]);
  await client.query(
    `INSERT INTO join_token (id, organization_id, cluster_id, name, secret_hash, uses_max, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, now()) ON CONFLICT (secret_hash) DO NOTHING`,
    [systemRandom.id(), token.organizationId, token.clusterId, JOIN_TOKEN, secretHash, LOCAL_JOINS_MAX],
  );
}

/** The first that was made, of an organization or of all. */
async function oldestOf(
  client: pg.Client,
  table: 'organization' | 'project' | 'cluster',
  organizationId?: string,
): Promise<string | undefined> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM ${table} WHERE $1::uuid IS NULL OR ${table === 'organization' ? 'id' : 'organization_id'} = $1
     ORDER BY created_at, id LIMIT 1`,
    [organizationId ?? null],
  );
  return rows[0]?.id;
}

async function idOf(client: pg.Client, sql: string, values: readonly string[]): Promise<string> {
  const { rows } = await client.query<{ id: string }>(sql, [...values]);
  const row = rows[0];
  if (row === undefined) throw new Error('a row vanished while it was being made');
  return row.id;
}
