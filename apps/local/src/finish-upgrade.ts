/**
 * Entry of a one-time run that finishes an upgrade: programs and agents of earlier versions are refused afterwards when they are
 * started, with the reason. Until then both versions may run beside each other.
 */
import { databaseTrouble } from '@holdfast/database/sql/connection-trouble.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import { systemScope, transaction } from '@holdfast/database/sql/scope.js';
import { nodesWithOlderAgents, raiseVersionFloor } from '@holdfast/database/version-floor.js';

/** Finishes it although some agents are older, such as that of a node which is down: it is refused when it comes back. */
const DESPITE_OLDER_AGENTS = '--despite-older-agents';

const url = process.env.DATABASE_SYSTEM_URL;
if (url === undefined) {
  console.error("holdfast: DATABASE_SYSTEM_URL must be the system role's connection to the database");
  process.exit(2);
}
const trouble = await databaseTrouble(url);
if (trouble !== undefined) {
  console.error(`holdfast: ${trouble}`);
  process.exit(2);
}
const pool = createPool(url, { connectionsMax: 1, applicationName: 'holdfast-finish-upgrade' });
const outcome = await transaction(systemScope(pool), async (sql) => {
  const older = await nodesWithOlderAgents(sql);
  if (older.length > 0 && !process.argv.includes(DESPITE_OLDER_AGENTS)) return { older };
  return { older, floor: await raiseVersionFloor(sql, new Date()) };
}).finally(() => pool.end());
if (outcome.floor === undefined) {
  const names = outcome.older.join(', ');
  console.error(
    `holdfast: the upgrade is not finished, since these nodes have older agents: ${names}. ` +
      `Upgrade them, or delete nodes that are gone for good; ${DESPITE_OLDER_AGENTS} finishes it all the same, and refuses them`,
  );
  process.exit(3);
}
const { migration, agentProtocol } = outcome.floor;
console.log(
  `holdfast: the upgrade is finished: what does not know the migration ${migration} is not started any more, ` +
    `and agents are heard from version ${agentProtocol} of their protocol on`,
);
