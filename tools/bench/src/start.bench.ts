// Benchmark of `npm start`: on a fresh clone, again after a stop, the stop itself, and the idle stack's memory. The
// clone has an empty home, so packages come from the registry (or its cache).
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { readLocalJson } from '@holdfast/local/local-json.js';
import { freePortBlock, repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

const READY = 'Holdfast is ready';
const TIMEOUT_MS = 300_000;
const IDLE_MS = 15_000;

/** Where the measured stack keeps its data and listens. */
type Place = { readonly portBase: number; readonly home: string };
type Child = ChildProcessByStdio<null, Readable, null>;

export async function run({ quick }: RunOptions): Promise<void> {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-bench-'));
  // As root, Postgres runs as another system user and has to reach its data in there.
  fs.chmodSync(scratch, 0o755);
  const place = { portBase: await freePortBlock(), home: path.join(scratch, 'data') };
  try {
    const clone = quick ? repositoryRoot : cloneTo(scratch);
    if (!quick) await measure(clone, scratch, place, 'cold', 120);
    await measure(clone, scratch, place, quick ? 'first' : 'warm', quick ? undefined : 15);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

function cloneTo(scratch: string): string {
  const clone = path.join(scratch, 'clone');
  const result = spawnSync('git', ['clone', '--quiet', repositoryRoot, clone], { stdio: 'inherit' });
  if (result.status !== 0) throw new Error('the clone failed');
  return clone;
}

async function measure(
  clone: string,
  scratch: string,
  { portBase, home }: Place,
  name: string,
  targetSeconds: number | undefined,
): Promise<void> {
  const startedAt = performance.now();
  const userHome = path.join(scratch, 'user');
  const env = {
    ...process.env,
    HOME: userHome,
    HOLDFAST_HOME: home,
    HOLDFAST_PORT_BASE: String(portBase),
  };
  fs.mkdirSync(userHome, { recursive: true });
  const child = spawn('npm', ['start'], {
    cwd: clone,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  if (child.pid === undefined) throw new Error('npm did not start');
  const { pid } = child;
  await untilPrinted(child, READY);
  const target = targetSeconds === undefined ? {} : { target: targetSeconds, better: 'lower' as const };
  report({ bench: 'start', case: name, metric: 'ready', value: seconds(startedAt), unit: 's', ...target });
  if (name !== 'cold') await reportMemory(home, pid);
  const stoppedAt = performance.now();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  process.kill(-pid, 'SIGINT');
  await ended;
  report({
    bench: 'start',
    case: name,
    metric: 'stop',
    value: seconds(stoppedAt),
    unit: 's',
    target: 15,
    better: 'lower',
  });
}

function untilPrinted(child: Child, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`not ready: ${output}`)), TIMEOUT_MS);
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}: ${output}`)));
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (!output.includes(text)) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Reports the memory of all the stack's processes (PSS: a shared page counts once in all). */
async function reportMemory(home: string, npmPid: number): Promise<void> {
  await sleep(IDLE_MS);
  const local = readLocalJson(home);
  if (local === undefined) throw new Error('the stack is ready and has not said where');
  const parents = processTree();
  const roots: Record<string, number> = { stack: npmPid, ...local.processes };
  for (const agent of local.agents) roots[agent.name] = agent.pid;
  const postgres = findPostgres(home);
  if (postgres !== undefined) roots.postgres = postgres;
  const others = new Set(Object.values(roots));
  let total = 0;
  for (const [name, pid] of Object.entries(roots)) {
    const bytes = [...family(pid, parents, others)].reduce(
      (sum, member) => sum + proportionalBytes(member),
      0,
    );
    total += bytes;
    report({ bench: 'start', case: name, metric: 'memory', value: bytes / 2 ** 20, unit: 'MiB' });
  }
  report({
    bench: 'start',
    case: 'idle stack',
    metric: 'memory',
    value: total / 1e9,
    unit: 'GB',
    target: 1.2,
    better: 'lower',
  });
}

function processTree(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
      parents.set(Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It ended while it was being read.
    }
  }
  return parents;
}

/** A process and its descendants, without those that have a row of their own. */
function family(
  root: number,
  parents: ReadonlyMap<number, number>,
  others: ReadonlySet<number>,
): Set<number> {
  const members = new Set([root]);
  for (let grew = true; grew; ) {
    grew = false;
    for (const [pid, parent] of parents) {
      if (members.has(parent) && !members.has(pid) && !others.has(pid)) {
        members.add(pid);
        grew = true;
      }
    }
  }
  return members;
}

function proportionalBytes(pid: number): number {
  try {
    const match = /^Pss:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
    return match === null ? 0 : Number(match[1]) * 1024;
  } catch {
    return 0;
  }
}

function findPostgres(home: string): number | undefined {
  for (const pid of processTree().keys()) {
    try {
      const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (/postgres\0/.test(command) && command.includes('pgdata') && isOf(pid, home)) return pid;
    } catch {
      // It ended while it was being read.
    }
  }
  return undefined;
}

/** True for a process of this home, as the embedded Postgres is: its command line or working folder names the home. */
function isOf(pid: number, home: string): boolean {
  const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  return command.includes(home) || fs.readlinkSync(`/proc/${pid}/cwd`).includes(home);
}

function seconds(since: number): number {
  return (performance.now() - since) / 1000;
}
