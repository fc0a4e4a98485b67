/** Whether Postgres can be reached as it is configured, and may be used by this version, asked before a process begins. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeTlsTrouble, type TlsService } from '@holdfast/core/model/certificate-trouble.js';
import pg from 'pg';
import { loadVersionFloor, refuseOlderProgram, type VersionFloor } from '../version-floor.js';

/** A server that does not answer for so long may be starting: that is waited for elsewhere. */
const ASKED_MS_MAX = 3_000;
const ASKED_AGAIN_MS = 2_000;
const POSTGRES_PORT = '5432';
/** Of a database from before there was such a table. */
const NO_TABLE = '42P01';

/** @property isKnown false: Postgres is unavailable for now, or does not accept this role yet */
type Answer = { isKnown: boolean; trouble?: string | undefined };

/** @returns the problem to fix first; `undefined`: none, or Postgres is only unavailable for now */
export async function databaseTrouble(url: string): Promise<string | undefined> {
  return (await ask(url)).trouble;
}

/**
 * Tries once before it returns, and in the background until Postgres has answered if it is unavailable: processes start together with
 * the machine, and a database that comes up later may be one that they must not use.
 *
 * @param end receives the problem to fix, and ends the process
 */
export async function endOnTrouble(url: string, end: (trouble: string) => void): Promise<void> {
  const first = await ask(url);
  if (first.trouble !== undefined) end(first.trouble);
  else if (!first.isKnown) void keepAsking(url, end);
}

async function keepAsking(url: string, end: (trouble: string) => void): Promise<void> {
  for (;;) {
    await sleep(ASKED_AGAIN_MS, undefined, { ref: false });
    const { isKnown, trouble } = await ask(url);
    if (trouble !== undefined) return end(trouble);
    if (isKnown) return;
  }
}

async function ask(url: string): Promise<Answer> {
  let client: pg.Client | undefined;
  try {
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: ASKED_MS_MAX });
    // Later failures are reported by the call that meets them.
    client.on('error', () => undefined);
    await client.connect();
    return { isKnown: true, trouble: await refuseOlderProgram(await floorOf(client)) };
  } catch (error) {
    const trouble = describeTlsTrouble(error, serviceAt(url), new Date());
    return { isKnown: trouble !== undefined, trouble };
  } finally {
    await client?.end().catch(() => undefined);
  }
}

async function floorOf(client: pg.Client): Promise<VersionFloor | undefined> {
  try {
    return await loadVersionFloor(client);
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === NO_TABLE) return undefined;
    throw error;
  }
}

function serviceAt(text: string): TlsService {
  const url = new URL(text);
  return {
    name: 'Postgres',
    address: `${url.hostname}:${url.port || POSTGRES_PORT}`,
    authorityFile: url.searchParams.get('sslrootcert') ?? undefined,
    setting: "sslrootcert in the database's address",
  };
}
