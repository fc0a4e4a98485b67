import fs from 'node:fs';
import path from 'node:path';

/** State of a running Postgres in `postmaster.pid`. */
export type Postmaster = { pid: number; port: number; ready: boolean };

/** Reads the file; undefined if there is none, or it is being written. */
export function readPostmasterFile(dataDirectory: string): Postmaster | undefined {
  let lines: string[];
  try {
    lines = fs.readFileSync(path.join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  // Lines, by Postgres's miscadmin.h: 1 pid, 2 data folder, 3 start, 4 port, 5 socket, 6 address, 7 memory, 8 state.
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!Number.isInteger(pid) || pid <= 0 || !Number.isInteger(port)) return undefined;
  return { pid, port, ready: lines[7]?.trim() === 'ready' };
}

/**
 * The Postgres that still runs on a data folder, if any: its supervisor was killed and it lives on.
 *
 * A pid alone proves nothing, since the number may have been given to another process after a reboot. So the
 * command line must name the data folder.
 */
export function findRunningPostmaster(dataDirectory: string): Postmaster | undefined {
  const postmaster = readPostmasterFile(dataDirectory);
  if (postmaster === undefined) return undefined;
  try {
    const commandLine = fs.readFileSync(`/proc/${postmaster.pid}/cmdline`, 'utf8').split('\0');
    return commandLine.includes(dataDirectory) ? postmaster : undefined;
  } catch {
    return undefined;
  }
}

/** False once the process is gone; a zombie, whose parent has not reaped it yet, counts as gone. */
export function isAlive(pid: number): boolean {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
  } catch {
    return false;
  }
}
