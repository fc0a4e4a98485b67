import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJson, writeJsonPrivately } from './private-file.js';
import { signalGroup } from './supervised-process.js';

/**
 * A process that this home's stack has started. When the stack is killed its processes live on and hold its ports and
 * files, so the next start ends them first. The start time is kept because a pid may have been reused meanwhile.
 */
type Known = { pid: number; startTime: string };

const STOP_GRACE_MS = 8_000;
const POLL_MS = 50;

export class ChildRegistry {
  private readonly file: string;
  private readonly known = new Map<number, Known>();

  constructor(home: string) {
    this.file = path.join(home, 'processes.json');
  }

  add(pid: number): void {
    const startTime = startTimeOf(pid);
    if (startTime === undefined) return;
    this.known.set(pid, { pid, startTime });
    this.save();
  }

  /**
   * Ends the processes of an earlier stack: with SIGTERM, and with SIGKILL those that are left after the grace time.
   */
  async endLeftovers(): Promise<number> {
    const alive = (readJson<Known[]>(this.file) ?? []).filter(isAlive);
    for (const { pid } of alive) signalGroup(pid, 'SIGTERM');
    const deadline = Date.now() + STOP_GRACE_MS;
    while (alive.some(isAlive) && Date.now() < deadline) await sleep(POLL_MS);
    for (const { pid } of alive) signalGroup(pid, 'SIGKILL');
    this.known.clear();
    this.save();
    return alive.length;
  }

  clear(): void {
    this.known.clear();
    this.save();
  }

  private save(): void {
    writeJsonPrivately(this.file, [...this.known.values()].filter(isAlive));
  }
}

function isAlive({ pid, startTime }: Known): boolean {
  return startTimeOf(pid) === startTime;
}

/** Start time of a process: field 22 of /proc/<pid>/stat, in clock ticks since boot. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command's name stands in parentheses and may hold spaces, so count from behind it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
