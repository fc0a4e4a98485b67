import type { EndpointClient } from '@holdfast/api-client/client.js';
import type { Command } from 'commander';
import { bodyOf, createApi, itemsOf, VOLUME } from './api.js';
import { type ConnectionOptions, resolveConnection } from './connection.js';
import { CliError, EXIT } from './exit-codes.js';
import { findNamed } from './find-named.js';
import { type OutputOptions, parseFormat, wantsColor } from './output/format.js';
import { printable } from './output/printable.js';
import { parseDurationMs } from './output/quantities.js';
import type { Node, Rebuild, Volume } from './types.js';

type GlobalOptions = ConnectionOptions & {
  output: string;
  headers: boolean;
  color: boolean;
  timeout: string;
};

/** What every command works with: the API, the cluster, and how to print. */
export class Context {
  readonly api: EndpointClient;
  readonly output: OutputOptions;
  readonly timeoutMs: number;
  readonly now = new Date();
  private readonly configuredClusterId: string | undefined;

  constructor(command: Command) {
    const options = command.optsWithGlobals<GlobalOptions>();
    const connection = resolveConnection(options, process.env);
    this.api = createApi(connection);
    this.configuredClusterId = connection.clusterId;
    this.timeoutMs = parseDurationMs(options.timeout);
    this.output = {
      output: parseFormat(options.output),
      headers: options.headers,
      color: options.color && wantsColor(process.env, process.stdout.isTTY === true),
    };
  }

  /** Id of the cluster: the named one, or the only one. */
  async clusterId(): Promise<string> {
    if (this.configuredClusterId !== undefined) return this.configuredClusterId;
    const clusters = await itemsOf((query) => this.api.GET('/clusters', { params: { query } }));
    const [only, ...others] = clusters;
    if (only === undefined) throw new CliError(EXIT.notFound, 'there is no cluster yet');
    if (others.length > 0) {
      throw new CliError(EXIT.usage, 'there are several clusters', [
        `name one with --cluster: ${clusters.map((cluster) => cluster.id).join(', ')}`,
      ]);
    }
    return only.id;
  }

  async volume(nameOrId: string): Promise<Volume> {
    const clusterId = await this.clusterId();
    return findNamed(nameOrId, {
      kind: 'volume',
      byId: (volumeId) => this.api.GET(VOLUME, { params: { path: { clusterId, volumeId } } }),
      byFilter: (query) => this.api.GET(VOLUMES, { params: { path: { clusterId }, query } }),
    });
  }

  /** Reads a volume as it is now. */
  readVolume(path: VolumeKey): Promise<Volume> {
    return bodyOf(this.api.GET(VOLUME, { params: { path } }));
  }

  /** Path parameters of the volume with that name or id. */
  async volumeKey(nameOrId: string): Promise<VolumeKey> {
    return keyOf(await this.volume(nameOrId));
  }

  async volumes(query: { filter?: string; sort?: string } = {}): Promise<Volume[]> {
    const path = { clusterId: await this.clusterId() };
    return itemsOf((page) => this.api.GET(VOLUMES, { params: { path, query: { ...query, ...page } } }));
  }

  async node(nameOrId: string): Promise<Node> {
    const clusterId = await this.clusterId();
    return findNamed(nameOrId, {
      kind: 'node',
      byId: (nodeId) => this.api.GET(`${NODES}/{nodeId}`, { params: { path: { clusterId, nodeId } } }),
      byFilter: (query) => this.api.GET(NODES, { params: { path: { clusterId }, query } }),
    });
  }

  async nodes(): Promise<Node[]> {
    const path = { clusterId: await this.clusterId() };
    return itemsOf((query) => this.api.GET(NODES, { params: { path, query } }));
  }

  async rebuilds(): Promise<Rebuild[]> {
    const path = { clusterId: await this.clusterId() };
    return itemsOf((query) => this.api.GET('/clusters/{clusterId}/rebuilds', { params: { path, query } }));
  }
}

const VOLUMES = '/clusters/{clusterId}/volumes';
const NODES = '/clusters/{clusterId}/nodes';

/** Path parameters of a volume in the API. */
export type VolumeKey = { clusterId: string; volumeId: string };

export function keyOf({ clusterId, id }: Volume): VolumeKey {
  return { clusterId, volumeId: id };
}

/** Prints data on stdout. All else goes to stderr, so that a pipe gets data only. */
export function print(text: string): void {
  if (text !== '') process.stdout.write(`${printable(text)}\n`);
}

export function remark(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}
