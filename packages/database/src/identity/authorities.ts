/** The control plane's certificate authorities, as Postgres keeps them. */
import { type Authority, makeAuthority } from '@holdfast/identity/authority.js';
import { firstSignature, needsAuthority } from '@holdfast/identity/authority-roles.js';
import { systemRandom } from '../clock-and-random.js';
import { type Scope, type Sql, transaction } from '../sql/scope.js';

/** Lock under which one process at a time makes an authority. */
const MAKING_LOCK = 7_266_601;

export type StoredAuthority = Authority & { signsFrom: Date; notAfter: Date };

type AuthorityRow = { certificate: string; key: string; signs_from: Date; not_after: Date };

/** All authorities; the first one, and a successor of an expiring one, is made here. */
export function ensureAuthorities(system: Scope, now: Date): Promise<StoredAuthority[]> {
  return transaction(system, async (sql) => {
    const known = await loadAuthorities(sql);
    return needsAuthority(known, now) ? makeNext(sql, now, (all) => needsAuthority(all, now)) : known;
  });
}

/** Makes a successor of the newest authority, which signs once all nodes have heard of it. */
export function rotateAuthority(system: Scope, now: Date): Promise<StoredAuthority[]> {
  return transaction(system, (sql) => makeNext(sql, now, () => true));
}

async function makeNext(
  sql: Sql,
  now: Date,
  isWanted: (known: readonly StoredAuthority[]) => boolean,
): Promise<StoredAuthority[]> {
  await sql.query('SELECT pg_advisory_xact_lock($1)', [MAKING_LOCK]);
  // Another process may have made it while this one waited.
  const known = await loadAuthorities(sql);
  if (!isWanted(known)) return known;
  const made = { ...(await makeAuthority(now)), signsFrom: firstSignature(known, now) };
  await sql.query(
    'INSERT INTO authority (id, certificate, key, signs_from, not_after, created_at) VALUES ($1, $2, $3, $4, $5, $6)',
    [systemRandom.id(), made.certificatePem, made.keyPem, made.signsFrom, made.notAfter, now],
  );
  return [...known, made];
}

async function loadAuthorities(sql: Sql): Promise<StoredAuthority[]> {
  const { rows } = await sql.query<AuthorityRow>(
    'SELECT certificate, key, signs_from, not_after FROM authority ORDER BY signs_from, id',
  );
  return rows.map(({ certificate, key, signs_from, not_after }) => {
    return { certificatePem: certificate, keyPem: key, signsFrom: signs_from, notAfter: not_after };
  });
}
