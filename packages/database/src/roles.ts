import { createHmac } from 'node:crypto';
import pg from 'pg';

/** The roles that the first migration makes, and which process connects as which. */
export const API_ROLE = 'holdfast_api';
export const SYSTEM_ROLE = 'holdfast_system';

/** Two stacks on one server may set the roles up at the same moment; Postgres then fails one of them. */
const ATTEMPTS_MAX = 5;

export type RoleUrls = {
  /** Under row-level security: sees one organization at a time. For what tenants ask. */
  apiUrl: string;
  /** Sees all organizations. For the worker, the relay and the agents' routes. */
  systemUrl: string;
};

export type RolePasswords = { api: string; system: string };

/**
 * Lets both roles log in, with the right to this database, and says how.
 *
 * Roles belong to the whole server. So by default their passwords are derived from the owner's: every stack that
 * knows the owner of one server sets the same ones, and none locks another out.
 */
export async function prepareRoles(
  ownerUrl: string,
  passwords = derivePasswords(ownerUrl),
): Promise<RoleUrls> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const database = pg.escapeIdentifier(client.database ?? '');
    await retryConcurrent(async () => {
      await letLogIn(client, API_ROLE, passwords.api);
      await letLogIn(client, SYSTEM_ROLE, passwords.system);
      await client.query(`GRANT CONNECT ON DATABASE ${database} TO ${API_ROLE}, ${SYSTEM_ROLE}`);
      // BullMQ on Postgres keeps its tables in a schema that the worker's role makes and owns.
      await client.query(`GRANT CREATE ON DATABASE ${database} TO ${SYSTEM_ROLE}`);
    });
  } finally {
    await client.end();
  }
  return {
    apiUrl: urlFor(ownerUrl, API_ROLE, passwords.api),
    systemUrl: urlFor(ownerUrl, SYSTEM_ROLE, passwords.system),
  };
}

function derivePasswords(ownerUrl: string): RolePasswords {
  const ownerPassword = decodeURIComponent(new URL(ownerUrl).password);
  const derive = (role: string) =>
    createHmac('sha256', ownerPassword).update(`holdfast role ${role}`).digest('base64url');
  return { api: derive(API_ROLE), system: derive(SYSTEM_ROLE) };
}

async function letLogIn(client: pg.Client, role: string, password: string): Promise<void> {
  // A role's password can't be a parameter.
  await client.query(`ALTER ROLE ${role} WITH LOGIN PASSWORD ${pg.escapeLiteral(password)}`);
}

async function retryConcurrent(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const concurrent = error instanceof Error && error.message.includes('concurrently updated');
      if (!concurrent || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

function urlFor(ownerUrl: string, role: string, password: string): string {
  const url = new URL(ownerUrl);
  url.username = role;
  url.password = encodeURIComponent(password);
  return url.href;
}
