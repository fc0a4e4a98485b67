/** A Postgres that stands still as a machine does that hangs: its connections stay open, and no answer comes. */
import fs from 'node:fs';

/** Stops all processes of a server, or continues them. A stopped server starts none, so that none is missed. */
export function signalPostgres(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  const sessions = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  process.kill(pid, signal);
  for (const session of sessions.filter((text) => text !== '')) process.kill(Number(session), signal);
}
