import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { patient } from './slowness.js';

export const repositoryRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/** The stack's own entry, built: what `npm start` runs after it has installed and built. */
const STACK_MAIN = path.join(repositoryRoot, 'apps/local/dist/main.js');
const CLI_MAIN = path.join(repositoryRoot, 'apps/cli/bin/holdfast.mjs');
const READY_LINE = 'Holdfast is ready';
const READY_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 20_000;
const PORT_BLOCK = 40;

export type LocalAgent = {
  nodeId: string;
  name: string;
  zone: string;
  pid: number;
  url: string;
  disks: string[];
};
export type LocalJson = {
  apiUrl: string;
  graphqlUrl: string;
  consoleUrl: string;
  email: string;
  password: string;
  token: string;
  organizationId: string;
  projectId: string;
  clusterId: string;
  processes: { api: number; worker: number; console?: number };
  agents: LocalAgent[];
};

export type StackOptions = {
  home?: string;
  portBase?: number;
  /** Off by default: most stories are told over the API, and the console takes memory. */
  console?: boolean;
  env?: Record<string, string>;
};

export type CliResult = { exitCode: number | null; stdout: string; stderr: string };

/** A whole local stack, started as users start it, with what a story needs to act on it and look at it. */
export class LocalStack {
  private child: ChildProcess | undefined;
  private collected = '';

  private constructor(
    readonly home: string,
    readonly portBase: number,
    private readonly env: Record<string, string>,
  ) {}

  static async start(options: StackOptions = {}): Promise<LocalStack> {
    const home = options.home ?? makeHome();
    const portBase = options.portBase ?? (await freePortBlock());
    const stack = new LocalStack(home, portBase, {
      HOLDFAST_CONSOLE: options.console === true ? 'on' : 'off',
      ...options.env,
    });
    await stack.orDestroy(() => stack.run());
    return stack;
  }

  /** What begins with the stack. If it fails, tests have no handle by which they could end the stack, so it is ended here. */
  async orDestroy<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.destroy();
      throw error;
    }
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
    const deadline = Date.now() + patient(READY_TIMEOUT_MS);
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

  /** local.json as it is now: pids change when things are started again. */
  get local(): LocalJson {
    // The stack under test wrote it; a wrong shape makes the test fail where it is used.
    return JSON.parse(fs.readFileSync(path.join(this.home, 'local.json'), 'utf8')) as LocalJson;
  }

  get clusterUrl(): string {
    const { apiUrl, clusterId } = this.local;
    return `${apiUrl}/clusters/${clusterId}`;
  }

  agent(name: string): LocalAgent {
    const agent = this.local.agents.find((candidate) => candidate.name === name);
    if (agent === undefined) throw new Error(`there is no agent ${name}`);
    return agent;
  }

  /** A node's sudden death: its agent's whole process group, at once. */
  killAgent(name: string): void {
    process.kill(-this.agent(name).pid, 'SIGKILL');
  }

  /** Calls the API below `/clusters/<the local one>` as the local admin. */
  async call<T>(method: string, pathInCluster: string, body?: unknown): Promise<{ status: number; body: T }> {
    const response = await fetch(`${this.clusterUrl}${pathInCluster}`, {
      method,
      headers: { authorization: `Bearer ${this.local.token}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    // Each caller states the shape it expects; its assertions check it.
    return { status: response.status, body: (await response.json().catch(() => undefined)) as T };
  }

  /** Runs the CLI against this stack, as a user would. */
  cli(...args: string[]): Promise<CliResult> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [CLI_MAIN, ...args], {
        cwd: repositoryRoot,
        env: { ...cleanEnvironment(), ...this.place },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (chunk: Buffer) => {
        stdout += chunk.toString();
      });
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
      });
      child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr }));
    });
  }

  /** The CLI's output as data. Throws with what it said when it failed. */
  async cliJson<T>(...args: string[]): Promise<T> {
    const { exitCode, stdout, stderr } = await this.cli(...args, '-o', 'json');
    if (exitCode !== 0) throw new Error(`holdfast ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
    // As with `call`: the caller's assertions check it.
    return JSON.parse(stdout) as T;
  }

  /** Ctrl-C. Returns how long it took. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<{ exitCode: number | null; tookMs: number }> {
    const child = this.child;
    if (child === undefined || child.exitCode !== null)
      return { exitCode: child?.exitCode ?? null, tookMs: 0 };
    const startedAt = Date.now();
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
    const last = setTimeout(() => child.kill('SIGKILL'), patient(STOP_TIMEOUT_MS));
    child.kill(signal);
    const exitCode = await ended;
    clearTimeout(last);
    return { exitCode, tookMs: Date.now() - startedAt };
  }

  /** Stops it and removes its data. */
  async destroy(): Promise<void> {
    await this.stop();
    fs.rmSync(this.home, { recursive: true, force: true });
  }

  /** The ends of all logs, for a failure's message. */
  logs(): string {
    const directory = path.join(this.home, 'logs');
    const files = fs.existsSync(directory) ? fs.readdirSync(directory) : [];
    return files
      .map((file) => `\n== ${file}\n${fs.readFileSync(path.join(directory, file), 'utf8').slice(-2_000)}`)
      .join('');
  }

  private get place(): Record<string, string> {
    return { HOLDFAST_HOME: this.home, HOLDFAST_PORT_BASE: String(this.portBase) };
  }
}

/** Postgres runs as another user when we are root, and has to reach its data in there. */
function makeHome(): string {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-stack-'));
  fs.chmodSync(home, 0o755);
  return home;
}

/** Neither Jest's flags nor the developer's own settings may reach what is under test. */
function cleanEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !/^(HOLDFAST_|NODE_OPTIONS|JEST_|DATABASE_|REDIS_)/.test(name),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
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
