/**
 * The oldest version that may still be started on a database.
 *
 * During an upgrade processes of both versions run, and either may be started anew, so the schema alone refuses none. Once the
 * upgrade is finished the floor is raised to the version that finished it: an older program does not know its newest migration.
 */
import { AGENT_PROTOCOL_VERSION } from '@holdfast/core/model/agent-protocol.js';
import { isAgentOlder } from '@holdfast/core/policy/agent-version.js';
import { z } from 'zod';
import { migrationNames } from './migrate.js';
import type { Sql } from './sql/scope.js';

export type VersionFloor = {
  /** Name of a migration that a program has to know. */
  readonly migration: string;
  /** Lowest version of the agents' protocol that is accepted. */
  readonly agentProtocol: number;
};

const rowSchema = z.object({ migration: z.string(), agent_protocol: z.number() });

/** Reads before there is a pool use a connection of their own. */
type Asking = { query(text: string): Promise<{ rows: unknown[] }> };

/** @returns `undefined` as long as no upgrade was finished */
export async function loadVersionFloor(sql: Asking): Promise<VersionFloor | undefined> {
  const { rows } = await sql.query('SELECT migration, agent_protocol FROM version_floor');
  const [row] = z.array(rowSchema).parse(rows);
  return row === undefined ? undefined : { migration: row.migration, agentProtocol: row.agent_protocol };
}

/** May this program be started? @returns why not */
export async function refuseOlderProgram(floor: VersionFloor | undefined): Promise<string | undefined> {
  if (floor === undefined || (await migrationNames()).includes(floor.migration)) return undefined;
  return (
    `the database was taken over by a newer Holdfast: its upgrade was finished with the migration ${floor.migration}, which ` +
    'this Holdfast does not know. Run that one; to go back, restore a backup that was taken before the upgrade'
  );
}

/** Names of nodes whose agents were last heard with an older version of their protocol than this program's, or with none. */
export async function nodesWithOlderAgents(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ name: string; agent_protocol: number | null }>(
    'SELECT name, agent_protocol FROM node WHERE last_heartbeat_at IS NOT NULL ORDER BY name',
  );
  return rows
    .filter(({ agent_protocol }) => isAgentOlder(agent_protocol ?? undefined, AGENT_PROTOCOL_VERSION))
    .map(({ name }) => name);
}

/** Raises the floor to this program's version; a higher one stays. */
export async function raiseVersionFloor(sql: Sql, now: Date): Promise<VersionFloor> {
  const migration = (await migrationNames()).at(-1) ?? '';
  await sql.query(
    `INSERT INTO version_floor (id, migration, agent_protocol, raised_at) VALUES (1, $1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET
       migration = greatest(version_floor.migration COLLATE "C", excluded.migration COLLATE "C"),
       agent_protocol = greatest(version_floor.agent_protocol, excluded.agent_protocol),
       raised_at = excluded.raised_at`,
    [migration, AGENT_PROTOCOL_VERSION, now],
  );
  return { migration, agentProtocol: AGENT_PROTOCOL_VERSION };
}
