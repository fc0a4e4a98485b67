import type { Command } from 'commander';
import { Api } from './api.js';
import { type ConnectionOptions, resolveConnection } from './connection.js';
import { CliError, EXIT } from './exit-codes.js';
import { type OutputOptions, parseFormat, wantsColor } from './output/format.js';
import { parseDurationMs } from './output/quantities.js';
import type { Cluster, Node, Rebuild, Volume } from './types.js';

type GlobalOptions = ConnectionOptions & {
  output: string;
  headers: boolean;
  color: boolean;
  timeout: string;
};

/** What every command works with: the API, the cluster, and how to print. */
export class Context {
  readonly api: Api;
  readonly output: OutputOptions;
  readonly timeoutMs: number;
  readonly now = new Date();
  readonly #clusterId: string | undefined;

  constructor(command: Command) {
    const options = command.optsWithGlobals<GlobalOptions>();
    const connection = resolveConnection(options, process.env);
    this.api = new Api(connection);
    this.#clusterId = connection.clusterId;
    this.timeoutMs = parseDurationMs(options.timeout);
    this.output = {
      output: parseFormat(options.output),
      headers: options.headers,
      color: options.color && wantsColor(process.env, process.stdout.isTTY === true),
    };
  }

  /** The path of the cluster that is meant: the named one, or the only one. */
  async clusterPath(): Promise<string> {
    if (this.#clusterId !== undefined) return `/clusters/${this.#clusterId}`;
    const clusters = await this.api.list<Cluster>('/clusters');
    const [only, ...others] = clusters;
    if (only === undefined) throw new CliError(EXIT.notFound, 'there is no cluster yet');
    if (others.length > 0) {
      throw new CliError(EXIT.usage, 'there are several clusters', [
        `name one with --cluster: ${clusters.map((cluster) => cluster.id).join(', ')}`,
      ]);
    }
    return `/clusters/${only.id}`;
  }

  async volume(nameOrId: string): Promise<Volume> {
    const cluster = await this.clusterPath();
    const volumes = await this.api.list<Volume>(`${cluster}/volumes`);
    return pick(volumes, nameOrId, 'volume');
  }

  async node(nameOrId: string): Promise<Node> {
    const cluster = await this.clusterPath();
    return pick(await this.api.list<Node>(`${cluster}/nodes`), nameOrId, 'node');
  }

  async nodes(): Promise<Node[]> {
    return this.api.list<Node>(`${await this.clusterPath()}/nodes`);
  }

  async rebuilds(): Promise<Rebuild[]> {
    return this.api.list<Rebuild>(`${await this.clusterPath()}/rebuilds`);
  }
}

function pick<T extends { id: string; name: string }>(
  items: readonly T[],
  nameOrId: string,
  kind: string,
): T {
  const found = items.filter((item) => item.id === nameOrId || item.name === nameOrId);
  const [item, ...others] = found;
  if (item === undefined) throw new CliError(EXIT.notFound, `there is no ${kind} ${nameOrId}`);
  if (others.length > 0) {
    throw new CliError(EXIT.usage, `${nameOrId} names ${found.length} ${kind}s`, [
      `use an id: ${found.map(({ id }) => id).join(', ')}`,
    ]);
  }
  return item;
}

/** Data goes to stdout; everything else to stderr, so that a pipe gets data only. */
export function print(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`);
}

export function remark(text: string): void {
  process.stderr.write(`${text}\n`);
}
