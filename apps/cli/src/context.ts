import type { EndpointClient } from '@holdfast/api-client/client.js';
import type { Command } from 'commander';
import { bodyOf, createApi, itemsOf, VOLUME } from './api.js';
import { type Connection, type ConnectionOptions, resolveConnection } from './connection.js';
import { CliError, EXIT } from './exit-codes.js';
import { findNamed } from './find-named.js';
import {
  columnNames,
  formatItem,
  formatList,
  type OutputOptions,
  parseFormat,
  wantsColor,
} from './output/format.js';
import { printable } from './output/printable.js';
import { parseDurationMs } from './output/quantities.js';
import { COPY_COLUMNS, type Plan, planLines } from './plan-text.js';
import { Shown, sender } from './send.js';
import type { Node, Rebuild, Volume } from './types.js';

type GlobalOptions = ConnectionOptions & {
  output: string;
  headers: boolean;
  color: boolean;
  timeout: string;
  columns?: string;
  dryRun?: boolean;
  curl?: boolean;
  yes?: boolean;
  input: boolean;
  idempotencyKey?: string;
};

/** How to print, which commands that ask no API need too. */
export function outputOf(command: Command): OutputOptions {
  const options = command.optsWithGlobals<GlobalOptions>();
  return {
    output: parseFormat(options.output),
    headers: options.headers,
    color: options.color && wantsColor(process.env, process.stdout.isTTY === true),
    ...(options.columns === undefined ? {} : { columns: columnNames(options.columns) }),
  };
}

/** Context of every command: the API, the cluster, and the output. */
export class Context {
  readonly api: EndpointClient;
  readonly output: OutputOptions;
  readonly timeoutMs: number;
  readonly connection: Connection;
  /** The user has said beforehand that what destroys may be done. */
  readonly isSure: boolean;
  readonly send: (request: Request) => Promise<Response>;
  readonly now = new Date();
  private readonly mayAsk: boolean;
  private readonly configuredClusterId: string | undefined;

  constructor(command: Command) {
    const options = command.optsWithGlobals<GlobalOptions>();
    this.connection = resolveConnection(options, process.env);
    this.configuredClusterId = this.connection.clusterId;
    // A request that is only shown needs no confirmation.
    this.isSure = options.yes === true || options.dryRun === true || options.curl === true;
    this.mayAsk = options.input;
    this.timeoutMs = parseDurationMs(options.timeout);
    this.output = outputOf(command);
    this.send = sender({
      apiUrl: this.connection.apiUrl,
      isDryRun: options.dryRun === true,
      isCurl: options.curl === true,
      idempotencyKey: options.idempotencyKey,
      show: (text) => write(text),
      showPlan: (plan) => this.showPlan(plan),
    });
    if (options.curl === true) muteOutput();
    this.api = createApi(this.connection, this.send);
  }

  private showPlan(plan: Plan): void {
    const copies = () =>
      plan.copies.length === 0 ? [] : [formatList(plan.copies, COPY_COLUMNS, this.output)];
    print(formatItem(plan, () => [...planLines(plan), ...copies()].join('\n'), this.output));
  }

  /**
   * Asks a user at a terminal whether what destroys is to be done. Without a terminal there is none to ask: it is refused without `--yes`.
   *
   * @throws CliError when it is not
   */
  async confirm(what: string): Promise<void> {
    if (this.isSure) return;
    const isAtTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true;
    if (!this.mayAsk || !isAtTerminal) throw new CliError(EXIT.usage, what, ['add --yes to do it']);
    const { createInterface } = await import('node:readline/promises');
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await lines.question(printable(`${what}. Do it? [y/N] `));
    lines.close();
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(EXIT.interrupted, 'nothing was done');
  }

  /** Does it for each of them, also where it is only shown. */
  async each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
    let shown: Shown | undefined;
    for (const item of items) {
      try {
        await work(item);
      } catch (error) {
        if (!(error instanceof Shown)) throw error;
        shown = error;
      }
    }
    if (shown !== undefined) throw shown;
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

  /** @param query left out: all nodes of the cluster */
  async nodes(query: { filter?: string } = {}): Promise<Node[]> {
    const path = { clusterId: await this.clusterId() };
    return itemsOf((page) => this.api.GET(NODES, { params: { path, query: { ...query, ...page } } }));
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

let isMuted = false;
/** Suppresses a command's own output: only the replacement is printed. */
function muteOutput(): void {
  isMuted = true;
}

let collected: string[] | undefined;
/** Collects a command's output, to be compared with the last one. */
export function collectOutput(into: string[] | undefined): void {
  collected = into;
}

/** Prints data on stdout. All else goes to stderr, so that a pipe gets data only. */
export function print(text: string): void {
  if (text === '' || isMuted) return;
  if (collected === undefined) write(text);
  else collected.push(text);
}

/** Result of a change, in one line for people; scripts get the object. */
export function printLine({ output }: Context, item: object, line: string): void {
  print(formatItem(item, () => line, output));
}

function write(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

export function remark(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}
