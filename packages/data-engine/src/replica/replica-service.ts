/**
 * The copies that one process serves: their data over NBD, their control commands, and rebuilds into them.
 *
 * A copy is opened when it is first asked for. When the process dies, nothing is lost but what no flush had covered.
 */
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChecksumReply } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { deviceChecksum } from '../integrity/device-checksum.js';
import { LayerHashing } from '../integrity/layer-hashing.js';
import type { Negotiated } from '../nbd/handshake-frames.js';
import { serveExport } from '../nbd/server.js';
import { handshakeRefusal } from '../nbd/server-handshake.js';
import type { Answer, Ask, CommandName, ConnectControl } from './commands.js';
import { parseExportName } from './export-names.js';
import { Replica } from './replica.js';
import { COMMANDS, type ServedReplica } from './replica-commands.js';
import { openExport } from './replica-exports.js';
import { staleEpoch } from './replica-faults.js';

/**
 * How long a checksum waits for connections that are closing. An engine that has said goodbye cuts the connection
 * after one second itself; a machine under load may take a few to notice.
 */
const CLOSING_MAX_MS = 5_000;

export class ReplicaService {
  private readonly served = new Map<string, Promise<ServedReplica>>();

  constructor(private readonly connectControl: ConnectControl) {}

  get replicaIds(): string[] {
    return [...this.served.keys()];
  }

  /** Opens the copy, once. */
  async open(diskPath: string, replicaId: string): Promise<void> {
    let opening = this.served.get(replicaId);
    if (opening === undefined) {
      opening = Replica.open(diskPath, replicaId).then((replica) => ({
        replica,
        sockets: new Map(),
        pull: undefined,
        hashing: new LayerHashing(replica),
        trails: new Map(),
        connectControl: this.connectControl,
      }));
      this.served.set(replicaId, opening);
      // A copy that can't be opened is tried again when it is asked for again.
      opening.catch(() => this.served.delete(replicaId));
    }
    await opening;
  }

  async command<Name extends CommandName>(
    replicaId: string,
    name: Name,
    ask: Ask<Name>,
  ): Promise<Answer<Name>> {
    const served = await this.find(replicaId);
    const { epoch } = served.replica.metadata;
    if (name !== 'open' && ask.epoch !== epoch) throw staleEpoch(ask.epoch, epoch);
    return COMMANDS[name](served, ask);
  }

  /** Serves the export that a client has chosen in the handshake, or refuses it. */
  async accept(socket: Socket, negotiated: Negotiated, rest: Buffer): Promise<void> {
    const name = parseExportName(negotiated.exportName);
    try {
      if (name === undefined) throw notFound();
      const served = await this.find(name.replicaId);
      if (served.replica.metadata.secret !== name.secret) throw notFound();
      const target = openExport(served.replica, name);
      if (name.kind !== 'snapshot') {
        served.sockets.set(socket, name.epoch);
        socket.on('close', () => served.sockets.delete(socket));
      }
      serveExport(socket, negotiated, rest, target);
    } catch (error) {
      const refusal = handshakeRefusal(negotiated, error instanceof Error ? error.message : 'refused');
      socket.on('error', () => socket.destroy());
      socket.end(refusal ?? '');
    }
  }

  async checksum(replicaId: string): Promise<ChecksumReply> {
    const { replica, sockets } = await this.find(replicaId);
    // A volume that was detached a moment ago may have connections that are just closing.
    const waited = pause(CLOSING_MAX_MS, undefined, { ref: false });
    await Promise.race([this.disconnected(replicaId), waited]);
    if (sockets.size > 0) {
      throw new StorageFault('replica.in_use', {
        publicMessage: 'the copy is attached: detach the volume first',
      });
    }
    if (replica.metadata.rebuildId !== null) {
      throw new StorageFault('replica.rebuilding', { publicMessage: 'the copy is not complete' });
    }
    return { checksum: await deviceChecksum(replica), writtenBytes: replica.writtenBytes };
  }

  /** What the agent reports about the open copies. */
  async reports(): Promise<
    { replicaId: string; writtenBytes: number; record: Replica['metadata']['record'] }[]
  > {
    const served = await Promise.all([...this.served.values()].map((one) => one.catch(() => undefined)));
    return served.flatMap((one) =>
      one === undefined
        ? []
        : [
            {
              replicaId: one.replica.metadata.replicaId,
              writtenBytes: one.replica.writtenBytes,
              record: one.replica.metadata.record,
            },
          ],
    );
  }

  async close(replicaId: string): Promise<void> {
    const opening = this.served.get(replicaId);
    if (opening === undefined) return;
    this.served.delete(replicaId);
    const served = await opening.catch(() => undefined);
    if (served === undefined) return;
    await served.pull?.cancel();
    for (const socket of served.sockets.keys()) socket.destroy();
    await served.replica.close();
  }

  /**
   * Closes everything. Engines elsewhere may be stopping at this moment too: their copies are left to them for a
   * while, so that a whole cluster that stops does not drop its copies one by one.
   */
  async closeAll(graceMs: number): Promise<void> {
    const waited = this.replicaIds.map((replicaId) => this.disconnected(replicaId));
    await Promise.race([Promise.all(waited), pause(graceMs, undefined, { ref: false })]);
    await Promise.all(this.replicaIds.map((replicaId) => this.close(replicaId)));
  }

  /** Resolves when nobody is connected to the copy. */
  private async disconnected(replicaId: string): Promise<void> {
    const served = await this.served.get(replicaId)?.catch(() => undefined);
    await Promise.all([...(served?.sockets.keys() ?? [])].map(closed));
  }

  /** @throws StorageFault `replica.not_found` for a copy that is not open here */
  async find(replicaId: string): Promise<ServedReplica> {
    const opening = this.served.get(replicaId);
    if (opening === undefined) throw notFound();
    return opening;
  }
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

function notFound(): StorageFault {
  return new StorageFault('replica.not_found', { publicMessage: 'there is no such copy here' });
}
