/**
 * Entry of a one-time run that makes a successor of the control plane's certificate authority. It is trusted from now on and
 * signs in a week; the one before is trusted for a week more.
 */
import { rotateAuthority } from '@holdfast/database/identity/authorities.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';

const url = process.env.DATABASE_SYSTEM_URL;
if (url === undefined) {
  console.error("holdfast: DATABASE_SYSTEM_URL must be the system role's connection to the database");
  process.exit(2);
}
const pool = createPool(url, { connectionsMax: 1, applicationName: 'holdfast-rotate-authority' });
const newest = (await rotateAuthority(systemScope(pool), new Date())).at(-1);
await pool.end();
console.log(`holdfast: a new certificate authority signs from ${newest?.signsFrom.toISOString()}`);
