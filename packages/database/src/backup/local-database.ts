/** The embedded Postgres of a stack's home, for one piece of work: the running one, or one started for it. */
import path from 'node:path';
import { locatePostgres } from '../embedded/location.js';
import { startEmbeddedPostgres } from '../embedded/postgres.js';
import { findRunningPostmaster } from '../embedded/postmaster-file.js';

/** @param work gets the owner's URL */
export async function withLocalDatabase<T>(home: string, work: (url: string) => Promise<T>): Promise<T> {
  const directory = path.join(home, 'postgres');
  const isRunning =
    findRunningPostmaster(path.join(locatePostgres(directory).directory, 'pgdata')) !== undefined;
  const server = await startEmbeddedPostgres({ directory });
  try {
    return await work(server.url);
  } finally {
    // A running one belongs to its stack.
    if (!isRunning) await server.stop();
  }
}
