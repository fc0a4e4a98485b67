/**
 * Ends connections on which a server that owes an answer sends nothing: a machine that hangs, or a network that loses everything.
 * Postgres itself ends long statements and says so; the kernel keeps such a connection for a quarter of an hour or for ever; the
 * driver's own limit is a timer for each statement.
 *
 * One check of all connections in use, twice a second, counts how often nothing had come. Checks and not a clock: a process that has
 * stood still has not listened meanwhile.
 *
 * Idle connections are closed with a silent one: they lead to the same machine. Another one may be in its place by now, and each of
 * them would delay its next user as long before a new connection is made.
 */
import { Socket } from 'node:net';
import type pg from 'pg';

const LOOK_MS = 500;

/** Bytes received at the last check, and number of checks since. */
type Heard = { bytes: number; looks: number };

/** @param silentMsMax more than Postgres may take for a statement, and for the wait for the next one of a transaction */
export function endSilentConnections(pool: pg.Pool, silentMsMax: number): void {
  const used = new Map<pg.PoolClient, Heard>();
  const idle = new Set<pg.PoolClient>();
  const looksMax = Math.ceil(silentMsMax / LOOK_MS);
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    for (const [client, heard] of used) {
      const { stream } = client.connection;
      if (!(stream instanceof Socket) || !isSilent(heard, stream.bytesRead, looksMax)) continue;
      for (const { connection } of [client, ...idle]) connection.stream.destroy(silence());
    }
    if (used.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  pool.on('acquire', (client) => {
    idle.delete(client);
    used.set(client, { bytes: -1, looks: 0 });
    timer ??= setInterval(look, LOOK_MS).unref();
  });
  pool.on('release', (_error, client) => {
    used.delete(client);
    idle.add(client);
  });
  pool.on('remove', (client) => idle.delete(client));
}

function isSilent(heard: Heard, bytes: number, looksMax: number): boolean {
  heard.looks = heard.bytes === bytes ? heard.looks + 1 : 0;
  heard.bytes = bytes;
  return heard.looks >= looksMax;
}

function silence(): Error {
  return new Error('Connection terminated: Postgres sent nothing for too long');
}
