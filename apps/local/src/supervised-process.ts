import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import { openPrivateLog } from './private-file.js';

export type ProcessSpec = {
  name: string;
  /** A Node script and its arguments. */
  args: readonly string[];
  cwd: string;
  /** The child's environment. A function, because some values are known only when the process starts. */
  environment: () => Record<string, string>;
  logFile: string;
  /** `always`: for services. `never`: for agents, whose exit stands for a node failure and must stay visible. */
  restart: 'always' | 'never';
  /** Longest pause before a restart in milliseconds; left out: 10 s. */
  restartPauseMsMax?: number | undefined;
  onSpawn?: (pid: number) => void;
  onExit?: (how: string) => void;
};

/** Pause before a restart. It doubles up to the second value while the process keeps dying soon after its start. */
const RESTART_PAUSE_MS = 250;
const RESTART_PAUSE_MAX_MS = 10_000;
/** Running time after which the next restart begins with the short pause again. */
const STABLE_AFTER_MS = 15_000;

/**
 * A child process of the stack, in a process group of its own, so that a Ctrl-C in the terminal reaches only the stack,
 * which then stops all processes in the right order.
 */
export class SupervisedProcess {
  private child: ChildProcess | undefined;
  private stopping = false;
  private pauseMs: number;
  private restartTimer: NodeJS.Timeout | undefined;

  constructor(private readonly spec: ProcessSpec) {
    this.pauseMs = this.firstPauseMs;
  }

  private get firstPauseMs(): number {
    return Math.min(RESTART_PAUSE_MS, this.pauseMsMax);
  }

  private get pauseMsMax(): number {
    return this.spec.restartPauseMsMax ?? RESTART_PAUSE_MAX_MS;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  get running(): boolean {
    return this.child !== undefined;
  }

  start(): void {
    if (this.child !== undefined || this.stopping) return;
    const { args, cwd, environment, logFile, name } = this.spec;
    const log = openPrivateLog(logFile);
    const startedAt = Date.now();
    const child = spawn(process.execPath, [...args], {
      cwd,
      env: environment(),
      detached: true,
      stdio: ['ignore', log, log],
    });
    fs.closeSync(log);
    this.child = child;
    child.once('error', (error) => this.gone(startedAt, `could not be started: ${error.message}`));
    child.once('exit', (code, signal) => this.gone(startedAt, signal ?? `exit code ${code}`));
    if (child.pid !== undefined) this.spec.onSpawn?.(child.pid);
    fs.appendFileSync(logFile, `--- ${name} started ${new Date(startedAt).toISOString()} pid ${child.pid}\n`);
  }

  /** Asks it to stop, and after `graceMs` kills its whole group. Resolves when it is gone. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    clearTimeout(this.restartTimer);
    const child = this.child;
    if (child?.pid === undefined) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const kill = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), graceMs);
    child.kill('SIGTERM');
    await gone;
    clearTimeout(kill);
    // Processes that it started share its group; none may outlive it.
    signalGroup(child.pid, 'SIGKILL');
  }

  private gone(startedAt: number, how: string): void {
    if (this.child === undefined) return;
    this.child = undefined;
    this.spec.onExit?.(how);
    if (this.stopping || this.spec.restart === 'never') return;
    if (Date.now() - startedAt > STABLE_AFTER_MS) this.pauseMs = this.firstPauseMs;
    this.restartTimer = setTimeout(() => this.start(), this.pauseMs);
    this.pauseMs = Math.min(this.pauseMs * 2, this.pauseMsMax);
  }
}

export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already, as wanted.
  }
}
