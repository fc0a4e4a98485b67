// What processes use, by /proc: CPU of a worker and of a Postgres server, and a process's memory at its highest.
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';

/** Clock ticks a second: 100 on every Linux that Node runs on. */
const TICKS = 100;

type Stat = { readonly parent: number; readonly own: number; readonly ended: number };

/** CPU seconds of a process, and of the children that it has waited for. */
function statOf(pid: number): Stat | undefined {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may hold blanks and brackets; fields are counted from behind it.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return { parent, own: (user + system) / TICKS, ended: (endedUser + endedSystem) / TICKS };
  } catch {
    return undefined;
  }
}

export function cpuSecondsOf(pid: number): number {
  const stat = statOf(pid);
  if (stat === undefined) throw new Error(`process ${pid} is gone`);
  return stat.own + stat.ended;
}

/** Of a server with all its processes, those that have ended too, but without the backends that are left out. */
export function serverCpuSeconds(pid: number, leftOut: ReadonlySet<number>): number {
  let seconds = cpuSecondsOf(pid);
  for (const name of fs.readdirSync('/proc')) {
    const child = Number(name);
    if (!Number.isInteger(child) || leftOut.has(child)) continue;
    const stat = statOf(child);
    if (stat?.parent === pid) seconds += stat.own + stat.ended;
  }
  return seconds;
}

export function peakMemoryBytes(pid: number): number {
  return statusBytes(pid, 'VmHWM');
}

/** What of a process lies in memory now. */
export function memoryBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS');
}

function statusBytes(pid: number, field: 'VmHWM' | 'VmRSS'): number {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kib === undefined) throw new Error(`process ${pid} does not say what memory it has used`);
  return Number(kib) * 1024;
}

/** @throws Error when the child did not start */
export function pidOf({ pid }: Pick<ChildProcess, 'pid'>): number {
  if (pid === undefined) throw new Error('a process did not start');
  return pid;
}
