/** Home folder of a cluster under test, as the CLI reads it, with what a story needs to act on the cluster and to read from it. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const CLI_MAIN = path.join(REPOSITORY, 'apps/cli/bin/holdfast.mjs');

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
  controlSocket: string;
};

export type CliResult = { exitCode: number | null; stdout: string; stderr: string };

export abstract class ClusterHome {
  protected constructor(readonly home: string) {}

  /** Ends what the test has started, and removes its data. */
  abstract destroy(): Promise<void>;

  /** First steps on the cluster. If they fail, tests have no handle by which they could end the cluster, so it is ended here. */
  async orDestroy<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.destroy();
      throw error;
    }
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

  /** Calls the API below `/clusters/<this one>` as its administrator. */
  async call<T>(method: string, pathInCluster: string, body?: unknown): Promise<{ status: number; body: T }> {
    const response = await fetch(`${this.clusterUrl}${pathInCluster}`, {
      method,
      headers: {
        authorization: `Bearer ${this.local.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    // Each caller states the shape it expects; its assertions check it.
    return { status: response.status, body: (await response.json().catch(() => undefined)) as T };
  }

  /** Runs the CLI against this cluster, as a user would. */
  cli(...args: string[]): Promise<CliResult> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [CLI_MAIN, ...args], {
        cwd: REPOSITORY,
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

  /** The CLI's output as data. Throws with its error output when it failed. */
  async cliJson<T>(...args: string[]): Promise<T> {
    const { exitCode, stdout, stderr } = await this.cli(...args, '-o', 'json');
    if (exitCode !== 0) throw new Error(`holdfast ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
    // As with `call`: the caller's assertions check it.
    return JSON.parse(stdout) as T;
  }

  /** The ends of all logs, for a failure's message. */
  logs(): string {
    const directory = path.join(this.home, 'logs');
    const files = fs.existsSync(directory) ? fs.readdirSync(directory) : [];
    return files
      .map((file) => `\n== ${file}\n${fs.readFileSync(path.join(directory, file), 'utf8').slice(-2_000)}`)
      .join('');
  }

  /** Variables by which programs find this cluster. */
  protected get place(): Record<string, string> {
    return { HOLDFAST_HOME: this.home };
  }
}

/** Environment of programs under test, which neither Jest's flags nor the developer's own settings may reach. */
export function cleanEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !/^(HOLDFAST_|NODE_OPTIONS|JEST_|DATABASE_|REDIS_)/.test(name),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}
