/**
 * Sources of a rebuild: one or several current copies, each with a data connection per layer and its control channel.
 */
import { type ConnectData, connectByNbd, type DataLink } from '../nbd/data-link.js';
import type { ConnectControl } from '../protocol/commands.js';
import { formatExportName } from '../protocol/export-names.js';
import type { PullSource } from '../protocol/pull.js';
import { Lane } from './lanes.js';
import { pullFault } from './pull-faults.js';

const CONNECT_TIMEOUT_MS = 10_000;

export class PullSources {
  private readonly clients = new Set<DataLink>();
  /** Ends the waiting for answers to commands. */
  private readonly waiting = new Set<(reason: Error) => void>();
  private closed: string | undefined;

  constructor(
    private readonly sources: readonly PullSource[],
    private readonly epoch: number,
    private readonly connectControl: ConnectControl,
    private readonly connectData: ConnectData = connectByNbd,
  ) {}

  sameAs(others: readonly PullSource[]): boolean {
    const ids = (list: readonly PullSource[]) => list.map(({ replicaId }) => replicaId).join();
    return ids(this.sources) === ids(others);
  }

  /** Connects to one layer on every source for the duration of the work. */
  async withLayer(layerId: string, work: (lanes: readonly Lane[]) => Promise<void>): Promise<void> {
    const lanes = await Promise.all(
      this.sources.map(async (source, index) => {
        const client = await this.connect(source, layerId);
        return new Lane(this.connectControl(source), client, index, this.sources.length);
      }),
    );
    await work(lanes);
  }

  hangUp(reason: string): void {
    this.closed ??= reason;
    for (const client of this.clients) client.destroy(pullFault(reason));
    for (const end of this.waiting) end(pullFault(reason));
  }

  /**
   * Asks a source for something, unless they are hung up on, and waits for the answer until they are: a source that hangs must hold
   * up no other.
   */
  async unlessHungUp<T>(ask: () => Promise<T>): Promise<T> {
    if (this.closed !== undefined) throw pullFault(this.closed);
    return new Promise<T>((resolve, reject) => {
      this.waiting.add(reject);
      ask()
        .then(resolve, reject)
        .finally(() => this.waiting.delete(reject));
    });
  }

  private async connect(source: PullSource, layerId: string): Promise<DataLink> {
    const exportName = formatExportName({ kind: 'layer', layerId, epoch: this.epoch, ...source });
    const address = { host: source.nbdHost, port: source.nbdPort, nodeId: source.nodeId, exportName };
    const client = await this.connectData(address, CONNECT_TIMEOUT_MS);
    this.clients.add(client);
    client.onClose(() => this.clients.delete(client));
    if (this.closed !== undefined) client.destroy(pullFault(this.closed));
    return client;
  }
}
