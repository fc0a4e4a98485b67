import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ClusterHome, cleanEnvironment } from './cluster-home.js';
import { startPart } from './started-parts.js';

export const repositoryRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/** The stack's own entry, built: what `npm start` runs after it has installed and built. */
const STACK_MAIN = path.join(repositoryRoot, 'apps/local/dist/main.js');
const READY_LINE = 'Holdfast is ready';
const READY_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 120_000;
const PORT_BLOCK = 40;

export type StackOptions = {
  home?: string;
  portBase?: number;
  /** Off by default: most stories use the API, and the console takes memory. */
  console?: boolean;
  env?: Record<string, string>;
};

/** A whole local stack, started as users start it, with what a story needs to act on it and read it. */
export class LocalStack extends ClusterHome {
  private child: ChildProcess | undefined;
  private collected = '';

  private constructor(
    home: string,
    readonly portBase: number,
    private readonly env: Record<string, string>,
  ) {
    super(home);
  }

  static async start(options: StackOptions = {}): Promise<LocalStack> {
    const home = options.home ?? makeHome();
    const portBase = options.portBase ?? (await freePortBlock());
    const stack = new LocalStack(home, portBase, {
      HOLDFAST_CONSOLE: options.console === true ? 'on' : 'off',
      ...options.env,
    });
    await startPart('stack', () => stack.orDestroy(() => stack.run()));
    return stack;
  }

  /** Starts it (again) on the same home and ports, and waits until it says that it is ready. */
  async run(): Promise<void> {
    this.collected = '';
    const child = spawn(process.execPath, [STACK_MAIN], {
      cwd: repositoryRoot,
      env: { ...cleanEnvironment(), ...this.env, ...this.place },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    const collect = (chunk: Buffer) => {
      this.collected += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const deadline = Date.now() + READY_TIMEOUT_MS;
    while (!this.collected.includes(READY_LINE)) {
      if (child.exitCode !== null)
        throw new Error(`the stack ended with ${child.exitCode}: ${this.collected}${this.logs()}`);
      if (Date.now() > deadline)
        throw new Error(`the stack did not become ready: ${this.collected}${this.logs()}`);
      await sleep(50);
    }
  }

  get output(): string {
    return this.collected;
  }

  /** Ctrl-C. Returns how long it took. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<{ exitCode: number | null; tookMs: number }> {
    const child = this.child;
    if (child === undefined || child.exitCode !== null)
      return { exitCode: child?.exitCode ?? null, tookMs: 0 };
    const startedAt = Date.now();
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
    const last = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    child.kill(signal);
    const exitCode = await ended;
    clearTimeout(last);
    return { exitCode, tookMs: Date.now() - startedAt };
  }

  /** Stops it and removes its data. */
  override async destroy(): Promise<void> {
    await this.stop();
    fs.rmSync(this.home, { recursive: true, force: true });
  }

  protected override get place(): Record<string, string> {
    return { HOLDFAST_HOME: this.home, HOLDFAST_PORT_BASE: String(this.portBase) };
  }
}

/** Postgres runs as another user when we are root, and has to reach its data in there. */
function makeHome(): string {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-stack-'));
  fs.chmodSync(home, 0o755);
  return home;
}

/** A block of ports whose first few are free. Below the range from which the kernel chooses ports. */
export async function freePortBlock(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const base = 12_000 + PORT_BLOCK * Math.floor(Math.random() * 450);
    const checks = [0, 1, 2, 3, 10, 11, 12, 20, 21, 22].map((offset) => isFree(base + offset));
    if ((await Promise.all(checks)).every(Boolean)) return base;
  }
  throw new Error('there is no free block of ports');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
