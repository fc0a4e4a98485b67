/** Whether Postgres can be reached as it is configured, asked once before a process begins. */
import { describeTlsTrouble, type TlsService } from '@holdfast/core/model/certificate-trouble.js';
import pg from 'pg';

/** A server that does not answer for so long may be starting: that is waited for elsewhere. */
const ASKED_MS_MAX = 3_000;
const POSTGRES_PORT = '5432';

/** @returns what has to be mended first; `undefined`: nothing, or Postgres is only away for now */
export async function databaseTrouble(url: string): Promise<string | undefined> {
  let client: pg.Client | undefined;
  try {
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: ASKED_MS_MAX });
    // What breaks later is told by the call that meets it.
    client.on('error', () => undefined);
    await client.connect();
    return undefined;
  } catch (error) {
    return describeTlsTrouble(error, serviceAt(url), new Date());
  } finally {
    await client?.end().catch(() => undefined);
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
