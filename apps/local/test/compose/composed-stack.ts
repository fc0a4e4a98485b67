/** The services of docker-compose.yml under a project of its own, and what a user sees of them. */
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@holdfast/testkit/eventually.js';
import { freePort } from '@holdfast/testkit/free-port.js';
import type { DockerDaemon } from './docker-daemon.js';

const repositoryRoot = fileURLToPath(new URL('../../../../', import.meta.url));
const PROJECT = 'holdfast-test';
export const ACCOUNT = { email: 'owner@example.test', password: 'a password of the test' };
const PASSWORDS = ['POSTGRES', 'REDIS', 'DATABASE_API', 'DATABASE_SYSTEM'];

export type Volume = {
  id: string;
  state: string;
  robustness: string;
  attachedNodeId: string | null;
  endpoint: { nbdUri: string } | null;
  verification: { state: string; equal: boolean | null } | null;
};
type Node = { id: string; name: string; conditions: { type: string; status: string }[] };

export class ComposedStack {
  private token = '';
  private clusterPath = '';

  private constructor(
    readonly daemon: DockerDaemon,
    private readonly envFile: string,
    private readonly port: number,
    private readonly consolePort: number,
    private root: string,
  ) {}

  /** @param root the folder with the compose file */
  static async prepare(daemon: DockerDaemon, root = repositoryRoot): Promise<ComposedStack> {
    const envFile = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-compose-')), 'env');
    const [port, consolePort] = [await freePort(), await freePort()];
    const ports = [`HOLDFAST_PORT=${port}`, `HOLDFAST_CONSOLE_PORT=${consolePort}`, 'HOLDFAST_DISK_SIZE=2Gi'];
    const secrets = PASSWORDS.map(
      (name) => `HOLDFAST_${name}_PASSWORD=${crypto.randomBytes(24).toString('hex')}`,
    );
    fs.writeFileSync(envFile, `${[...ports, ...secrets].join('\n')}\n`, { mode: 0o600 });
    return new ComposedStack(daemon, envFile, port, consolePort, root);
  }

  /** Uses the compose file of this repository from now on. */
  upgradeFiles(): void {
    this.root = repositoryRoot;
  }

  /** Runs `docker-compose` in the folder of the compose file with secrets made for this run. */
  compose(args: readonly string[], env: NodeJS.ProcessEnv = {}, timeoutMs?: number): Promise<string> {
    const files = args.includes('agent-4')
      ? ['docker-compose.yml', 'infra/docker/another-node.yml']
      : ['docker-compose.yml'];
    return this.daemon.run('docker-compose', [...this.options(files), ...args], env, timeoutMs);
  }

  private options(files: readonly string[] = ['docker-compose.yml']): string[] {
    const named = files.flatMap((file) => ['-f', path.join(this.root, file)]);
    return [...named, '--project-directory', this.root, '--env-file', this.envFile, '-p', PROJECT];
  }

  /**
   * Runs lines as an operator of this stack types them into a shell: `docker compose` with the project and the secrets of this run,
   * and without a terminal, which docker-compose 1.29 has to be told.
   *
   * @param folder where they are typed; backups go below it
   */
  typed(lines: readonly string[], folder: string): Promise<string> {
    const compose = ['docker-compose', ...this.options()].map((word) => `'${word}'`).join(' ');
    const noTerminal = 'case $1 in exec | run) verb=$1; shift; set -- "$verb" -T "$@" ;; esac';
    const isOther = '[ "$1" = compose ] || { command docker "$@"; return; }';
    const docker = `docker() { ${isOther}; shift; ${noTerminal}; ${compose} "$@"; }`;
    const script = ['shopt -s expand_aliases', docker, `cd '${folder}'`, ...lines].join('\n');
    const env = {
      HOLDFAST_TOKEN: this.token,
      HOLDFAST_BACKUP_DIR: path.join(folder, 'backups'),
      COMPOSE_PROJECT_NAME: PROJECT,
    };
    return this.daemon.run('bash', ['-euo', 'pipefail', '-c', script], env);
  }

  /** The last one-time link that the log tells, as it is opened on this machine. */
  async firstLink(): Promise<string> {
    const log = await this.compose(['logs', '--no-color', 'prepare']);
    const [told = ''] = log.match(/http\S+first-account#hfl_\S+/g)?.slice(-1) ?? [];
    const link = new URL(told);
    link.port = String(this.consolePort);
    return link.href;
  }

  /** Makes the first account by that link. */
  async signUp(): Promise<void> {
    const { hash } = new URL(await this.firstLink());
    await this.call('POST', '/first-account', { ...ACCOUNT, secret: hash.slice(1), name: 'Owner' });
  }

  async signIn(): Promise<void> {
    this.token = (await this.call<{ token: string }>('POST', '/sessions', ACCOUNT)).token;
    const { items } = await this.call<{ items: { id: string }[] }>('GET', '/clusters');
    this.clusterPath = `/clusters/${items[0]?.id}`;
  }

  /** Calls the one address of both APIs. @throws Error with the answer unless that is a success */
  async call<T = unknown>(
    method: string,
    route: string,
    body?: object,
    further: Record<string, string> = {},
  ): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${this.port}/api/v1${route}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...further,
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${text}`);
    // The cast: callers name the shape that the API's document promises.
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  inCluster<T = unknown>(
    method: string,
    route: string,
    body?: object,
    further?: Record<string, string>,
  ): Promise<T> {
    return this.call<T>(method, `${this.clusterPath}${route}`, body, further);
  }

  async readyNodes(): Promise<string[]> {
    const { items } = await this.inCluster<{ items: Node[] }>('GET', '/nodes');
    const isReady = ({ conditions }: Node) =>
      conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    return items
      .filter(isReady)
      .map(({ name }) => name)
      .sort();
  }

  volume(id: string): Promise<Volume> {
    return this.inCluster<Volume>('GET', `/volumes/${id}`);
  }

  /** How often copies of the volume have failed so far. Its state tells that for some seconds only, which a busy machine may miss. */
  async copiesFailed(id: string): Promise<number> {
    const filter = encodeURIComponent(`volumeId=${id} AND type=ReplicaFailed`);
    const { items } = await this.inCluster<{ items: unknown[] }>('GET', `/events?limit=200&filter=${filter}`);
    return items.length;
  }

  /** Waits until the volume has all its copies; answers that fail meanwhile do not count. */
  healthy(id: string): Promise<Volume | undefined> {
    const ask = () => this.volume(id).catch(() => undefined);
    return eventually('the volume is healthy', ask, (volume) => volume?.robustness === 'healthy');
  }

  /** Address of the volume as this machine reaches it: with the container's address in the place of its name. */
  async nbdUri(id: string): Promise<string> {
    const attached = await eventually(
      'it has an address',
      () => this.volume(id).catch(() => undefined),
      (volume) => typeof volume?.endpoint?.nbdUri === 'string',
    );
    const uri = attached?.endpoint?.nbdUri ?? '';
    const name = new URL(uri).hostname;
    return uri.replace(name, await this.address(name));
  }

  async container(service: string): Promise<string> {
    const filters = [`com.docker.compose.service=${service}`, `com.docker.compose.project=${PROJECT}`];
    const args = ['ps', '-aq', ...filters.flatMap((label) => ['--filter', `label=${label}`])];
    return (await this.daemon.run('docker', args)).trim();
  }

  /** What Docker knows of a service's container, by one of its templates. */
  async inspect(service: string, format: string): Promise<string> {
    return (
      await this.daemon.run('docker', ['inspect', '--format', format, await this.container(service)])
    ).trim();
  }

  /** The one address that a node's name stands for: it is a name in one network. */
  private async address(name: string): Promise<string> {
    const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{.Aliases}}{{println}}{{end}}';
    const lines = (await this.inspect(name.replace('node', 'agent'), format)).split('\n');
    const found = lines.filter((line) => line.split(/[ [\]]+/).includes(name));
    if (found.length !== 1) throw new Error(`${name} is not a name in one network: ${lines.join('; ')}`);
    return found[0]?.split(' ')[0] ?? '';
  }

  /** Kills the first process of a container, as a crash would; Docker starts it again. */
  async crash(service: string): Promise<void> {
    process.kill(Number(await this.inspect(service, '{{.State.Pid}}')), 'SIGKILL');
  }

  /** Kills a container for good: Docker does not start it again unasked. */
  async kill(service: string): Promise<void> {
    await this.daemon.run('docker', ['kill', await this.container(service)]);
  }

  async startAgain(service: string): Promise<void> {
    await this.daemon.run('docker', ['start', await this.container(service)]);
  }

  /** Waits until a container that crashed was started again, and its health check has passed. */
  async wellAgain(service: string): Promise<void> {
    const format = '{{.RestartCount}} {{.State.Health.Status}}';
    const isWell = (text: string) => /^[1-9]\d* healthy$/.test(text);
    await eventually(`${service} is well again`, () => this.inspect(service, format), isWell);
  }

  /** Takes a storage container off its own network, or puts it back under its name. */
  async ownNetwork(change: 'connect' | 'disconnect', agent: string): Promise<void> {
    const number = agent.replace('agent-', '');
    const alias = change === 'connect' ? ['--alias', `node-${number}`] : [];
    const network = `${PROJECT}_storage-${number}`;
    await this.daemon.run('docker', ['network', change, ...alias, network, await this.container(agent)]);
  }

  /** Without the time that parts have to end well. */
  async destroy(): Promise<void> {
    await this.compose(['kill']);
    // Docker may still hold an end of a network for a moment whose container is gone.
    const isDown = () =>
      this.compose(['down', '--volumes', '--remove-orphans', '--timeout', '1']).then(
        () => 'down',
        (error: unknown) => String(error),
      );
    await eventually('all of it is removed', isDown, (outcome) => outcome === 'down');
    fs.rmSync(path.dirname(this.envFile), { recursive: true });
  }
}
