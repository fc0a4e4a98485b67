/**
 * Service for the copies of one process: their data over NBD, their control commands, and rebuilds into them.
 *
 * A copy is opened at its first use. A crash of the process loses only what no flush had covered.
 */
import type { Socket } from 'node:net';
import type { ChecksumReply } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { deviceChecksum } from '../layers/device-checksum.js';
import type { Negotiated } from '../nbd/handshake-frames.js';
import { type Ports, portsOf } from '../nbd/ports.js';
import { serveExport } from '../nbd/server.js';
import { handshakeRefusal } from '../nbd/server-handshake.js';
import type { Answer, Ask, CommandName, ConnectControl } from '../protocol/commands.js';
import { parseExportName, type ReplicaExportName } from '../protocol/export-names.js';
import { Throttle } from '../pull/throttle.js';
import { type OpenDisk, openDiskStore } from '../replica/open-disk-store.js';
import { Replica } from '../replica/replica.js';
import { asDiskRefusal } from './disk-refusals.js';
import { LayerHashing } from './layer-hashing.js';
import { LocalLink } from './local-link.js';
import { ReadTrails } from './read-trails.js';
import { COMMANDS, type CopyConnection, type ServedReplica } from './replica-commands.js';
import { openExport } from './replica-exports.js';
import { SentWindows } from './sent-windows.js';

/**
 * How long a checksum waits for connections that are closing, in milliseconds. An engine that has disconnected in order cuts
 * the connection after one second itself; a loaded machine may take much longer to run that engine and deliver its
 * last packet.
 */
const CLOSING_MAX_MS = 10_000;
/** Step of that wait, in milliseconds. */
const WAIT_STEP_MS = 100;

/** True if the name's secret admits to what it selects, at a copy with this key. */
export type Admits = (key: string, name: ReplicaExportName) => boolean;

export class ReplicaService {
  private readonly served = new Map<string, Promise<ServedReplica>>();

  private readonly ports: Ports;
  private readonly openDisk: OpenDisk;
  private readonly admits: Admits;

  /** Disks are opened in replica processes only: engines load none of the code that reads and writes them. */
  constructor(
    private readonly connectControl: ConnectControl,
    ports: Partial<Ports & { readonly openDisk: OpenDisk; readonly admits: Admits }> = {},
  ) {
    this.ports = portsOf(ports);
    this.openDisk = ports.openDisk ?? openDiskStore;
    this.admits = ports.admits ?? ((key, { secret }) => key === secret);
  }

  get replicaIds(): string[] {
    return [...this.served.keys()];
  }

  /** Opens the copy, unless it is open. */
  async open(diskPath: string, replicaId: string): Promise<void> {
    try {
      await (this.served.get(replicaId) ?? this.serve(replicaId, this.load(diskPath, replicaId)));
    } catch (error) {
      throw asDiskRefusal(error);
    }
  }

  private async load(diskPath: string, replicaId: string): Promise<ServedReplica> {
    const replica = await Replica.open(diskPath, replicaId, this.openDisk);
    const connections: ServedReplica['connections'] = new Set();
    // Its engine reconnects, if it has no other copy, and gets what the disk holds.
    replica.onFailed = () => {
      for (const connection of connections) connection.destroy();
    };
    return {
      replica,
      diskPath,
      connections,
      pull: undefined,
      preparing: 0,
      hashing: new LayerHashing(replica),
      trails: new ReadTrails(this.ports.time),
      sent: new SentWindows(replica.ranges.areKept),
      connectControl: this.connectControl,
      ports: this.ports,
    };
  }

  private serve(replicaId: string, opening: Promise<ServedReplica>): Promise<ServedReplica> {
    this.served.set(replicaId, opening);
    // A copy that failed to open is retried at its next use.
    opening.catch(() => {
      if (this.served.get(replicaId) === opening) this.served.delete(replicaId);
    });
    return opening;
  }

  async command<Name extends CommandName>(
    replicaId: string,
    name: Name,
    ask: Ask<Name>,
  ): Promise<Answer<Name>> {
    try {
      const served = name === 'open' ? await this.findUsable(replicaId) : await this.find(replicaId);
      // Refuses most late commands early; those that change anything check again at the moment of the effect.
      if (name !== 'open') served.replica.requireTerm(ask);
      return await COMMANDS[name](served, ask);
    } catch (error) {
      throw asDiskRefusal(error);
    }
  }

  /**
   * Reopens a copy whose disk has failed a flush, when an engine opens it: its content is then judged by its record
   * and its write-intent marks, as after a crash.
   */
  private async findUsable(replicaId: string): Promise<ServedReplica> {
    const opening = this.served.get(replicaId);
    const served = await this.find(replicaId);
    if (!served.replica.hasEnded) return served;
    // Another caller has already reopened it.
    if (this.served.get(replicaId) !== opening) return this.find(replicaId);
    const { diskPath } = served;
    return this.serve(
      replicaId,
      // Errors are ignored: they repeat what the disk has failed to do, and everything is closed anyway.
      shut(served)
        .catch(() => undefined)
        .then(() => this.load(diskPath, replicaId)),
    );
  }

  /** Serves the export that a client chose in the handshake, or refuses it. */
  async accept(socket: Socket, negotiated: Negotiated, rest: Buffer): Promise<void> {
    const name = parseExportName(negotiated.exportName);
    try {
      if (name === undefined) throw notFound();
      const served = await this.find(name.replicaId);
      if (!this.admits(served.replica.metadata.secret, name)) throw notFound();
      const target = openExport(served, name);
      // The client may have gone while its copy was being opened: no later event would remove it from the list.
      if (socket.destroyed) return;
      if (name.kind !== 'snapshot') {
        noteConnection(served, {
          epoch: name.epoch,
          destroy: () => socket.destroy(),
          ended: closeOf(socket),
        });
      }
      serveExport(socket, negotiated, rest, target);
    } catch (error) {
      const refusal = handshakeRefusal(negotiated, error instanceof Error ? error.message : 'refused');
      socket.on('error', () => socket.destroy());
      socket.end(refusal ?? '');
    }
  }

  /**
   * Connects an engine of this process to a copy that is open in it; `undefined` if the copy is not open here.
   *
   * @throws StorageFault `replica.not_found` for a wrong secret, `engine.stale_epoch`
   */
  async connectHere(exportName: string): Promise<LocalLink | undefined> {
    const name = parseExportName(exportName);
    if (name?.kind !== 'replica') return undefined;
    const served = await this.served.get(name.replicaId);
    if (served === undefined) return undefined;
    if (!this.admits(served.replica.metadata.secret, name)) throw notFound();
    const link = new LocalLink(openExport(served, name), this.ports.time);
    // Later than now: the engine reacts at once, and must not do so in the middle of what the copy is doing.
    const destroy = () => queueMicrotask(() => link.destroy(new Error('the copy has closed the connection')));
    noteConnection(served, { epoch: name.epoch, destroy, ended: link.ended });
    return link;
  }

  /** @param bytesPerSecondMax how fast it may read; such a reading ends when the copy is attached */
  async checksum(replicaId: string, bytesPerSecondMax?: number): Promise<ChecksumReply> {
    const { replica, connections } = await this.find(replicaId);
    // A volume that was detached a moment ago may have connections that are still closing.
    await this.within(CLOSING_MAX_MS, this.disconnected(replicaId));
    const requireUnused = () => {
      if (connections.size === 0) return;
      throw new StorageFault('replica.in_use', {
        publicMessage: 'the copy is attached: detach the volume first',
      });
    };
    requireUnused();
    if (replica.metadata.rebuildId !== null) {
      throw new StorageFault('replica.rebuilding', { publicMessage: 'the copy is not complete' });
    }
    const { record } = replica.metadata;
    const clean = replica.isClean;
    const tuning = { paused: false, bandwidthBytesPerSecond: bytesPerSecondMax ?? null };
    const throttle = new Throttle(tuning, this.ports.time);
    const isLimited = bytesPerSecondMax !== undefined;
    const goOn = isLimited ? requireUnused : () => undefined;
    const checksum = await deviceChecksum(replica, (bytes) => throttle.take(bytes, goOn));
    return { checksum, writtenBytes: await replica.writtenBytes(), record, clean };
  }

  /** The agent's report about the open copies. */
  async reports(): Promise<
    { replicaId: string; writtenBytes: number; record: Replica['metadata']['record'] }[]
  > {
    const served = await Promise.all([...this.served.values()].map((one) => one.catch(() => undefined)));
    for (const one of served) one?.trails.forgetUnused();
    const open = served.filter((one) => one !== undefined);
    return Promise.all(
      open.map(async ({ replica }) => ({
        replicaId: replica.metadata.replicaId,
        writtenBytes: await replica.writtenBytes(),
        record: replica.metadata.record,
      })),
    );
  }

  /** The stored metadata of an open copy. @throws StorageFault `replica.not_found` */
  async metadata(replicaId: string): Promise<Replica['metadata']> {
    return (await this.find(replicaId)).replica.metadata;
  }

  async close(replicaId: string): Promise<void> {
    const opening = this.served.get(replicaId);
    if (opening === undefined) return;
    this.served.delete(replicaId);
    const served = await opening.catch(() => undefined);
    if (served !== undefined) await shut(served);
  }

  /**
   * Closes everything. Engines on other nodes may be stopping too, and keep their copies for the grace time, so that
   * a cluster-wide stop does not drop copies one by one.
   */
  async closeAll(graceMs: number): Promise<void> {
    const waited = this.replicaIds.map((replicaId) => this.disconnected(replicaId));
    await this.within(graceMs, Promise.all(waited));
    await Promise.all(this.replicaIds.map((replicaId) => this.close(replicaId)));
  }

  /**
   * Resolves when the work has ended or the time is up. The wait is counted in steps: after a stall of the whole
   * machine one step is over, and what arrived during the stall is handled before the next one.
   */
  private async within(maxMs: number, work: Promise<unknown>): Promise<void> {
    let isOver = false;
    const ended = work.finally(() => {
      isOver = true;
    });
    for (let leftMs = maxMs; leftMs > 0 && !isOver; leftMs -= WAIT_STEP_MS) {
      await Promise.race([ended, this.ports.time.sleep(Math.min(leftMs, WAIT_STEP_MS))]);
    }
  }

  /**
   * Resolves when no connection to the copy is left.
   */
  private async disconnected(replicaId: string): Promise<void> {
    const served = await this.served.get(replicaId)?.catch(() => undefined);
    while (served !== undefined && served.connections.size > 0) {
      await Promise.all([...served.connections].map(({ ended }) => ended));
    }
  }

  /** @throws StorageFault `replica.not_found` for a copy that is not open here */
  async find(replicaId: string): Promise<ServedReplica> {
    const opening = this.served.get(replicaId);
    if (opening === undefined) throw notFound();
    return opening;
  }
}

/** Keeps the connection on the copy's list until it has ended. */
export function noteConnection(
  { connections }: Pick<ServedReplica, 'connections'>,
  connection: CopyConnection,
): void {
  connections.add(connection);
  void connection.ended.then(() => connections.delete(connection));
}

async function shut({ pull, connections, replica }: ServedReplica): Promise<void> {
  await pull?.cancel();
  for (const connection of connections) connection.destroy();
  await replica.close();
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

function notFound(): StorageFault {
  return new StorageFault('replica.not_found', { publicMessage: 'there is no such copy here' });
}
