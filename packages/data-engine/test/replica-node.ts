import fs from 'node:fs/promises';
import type net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId } from '@holdfast/core/model/ids.js';
import { formatBlockDisk } from '../src/disk/block/format-block-disk.js';
import { abandonShared } from '../src/disk/block/shared-disks.js';
import { NbdServer } from '../src/nbd/server.js';
import type { ConnectControl } from '../src/protocol/commands.js';
import { parseExportName } from '../src/protocol/export-names.js';
import { Replica } from '../src/replica/replica.js';
import type { ReplicaSpec } from '../src/replica/replica-state.js';
import { ReplicaService } from '../src/replica-server/replica-service.js';
import { FileTap } from './file-tap.js';

const SECRET = 'a-secret-of-sixteen';

/** Replicas of one node on real files behind a real NBD port; control calls are made directly on the service. */
export class ReplicaNode {
  private readonly sockets = new Set<net.Socket>();
  private alive = true;
  private lives = 0;

  private constructor(
    public disk: string,
    public service: ReplicaService,
    private readonly server: NbdServer,
    private readonly port: number,
    private readonly url: string,
  ) {}

  static async start(nodes: ReplicaNodes, disk: string, url: string): Promise<ReplicaNode> {
    const service = new ReplicaService(nodes.connectControl);
    const server = new NbdServer({
      directory: {
        describe: (name) =>
          parseExportName(name) && { sizeBytes: 0, readOnly: false, blockSizeMinBytes: 4096 },
      },
      accept: (socket, negotiated, rest) => {
        if (!node.alive) {
          socket.destroy();
          return;
        }
        node.sockets.add(socket);
        socket.on('close', () => node.sockets.delete(socket));
        void node.service.accept(socket, negotiated, rest);
      },
    });
    const { port } = await server.listen('127.0.0.1', 0);
    const node = new ReplicaNode(disk, service, server, port, url);
    return node;
  }

  async create(spec: Omit<ReplicaSpec, 'secret' | 'diskId'>): Promise<ReplicaAddress> {
    await Replica.create(this.disk, { ...spec, secret: SECRET, diskId: spec.volumeId });
    return this.open(spec.replicaId);
  }

  async open(replicaId: string): Promise<ReplicaAddress> {
    await this.service.open(this.disk, replicaId);
    return {
      replicaId: asId(replicaId),
      nodeId: asId(replicaId),
      controlUrl: this.url,
      nbdHost: '127.0.0.1',
      nbdPort: this.port,
      secret: SECRET,
    };
  }

  /** The replica object, as its service has it open. */
  async replica(replicaId: string): Promise<Replica> {
    return (await this.service.find(replicaId)).replica;
  }

  /** The process that holds the replica dies and another one opens it: everything that was only in memory is lost. */
  async crash(nodes: ReplicaNodes, replicaId: string): Promise<void> {
    const wasAlive = this.alive;
    // A dead process answers no request, although here its successor takes a moment to start.
    this.cutOff();
    await nodes.bury(this.disk);
    this.lives += 1;
    this.disk = await nodes.newLife(this.disk, this.lives);
    this.service = new ReplicaService(nodes.connectControl);
    await this.open(replicaId);
    this.alive = wasAlive;
  }

  get isAlive(): boolean {
    return this.alive;
  }

  /** Cuts the network to the node; its process goes on. */
  cutOff(): void {
    this.alive = false;
    for (const socket of this.sockets) socket.destroy();
  }

  /** Ends a `cutOff`. */
  reconnect(): void {
    this.alive = true;
  }

  /** From now on nothing answers, as if the machine were gone. Files stay as they are. */
  die(): void {
    this.cutOff();
    void this.server.close();
  }

  async stop(): Promise<void> {
    this.die();
    await this.service.closeAll(0);
  }
}

/** Several nodes, each with a disk folder of its own, and the connections from an engine to their replicas. */
export class ReplicaNodes {
  private readonly nodes = new Map<string, ReplicaNode>();
  private folder: string | undefined;
  private tap: FileTap | undefined;
  private readonly buried = new Set<string>();
  /** Set for nodes that are added from then on: each has a block disk instead of a folder. */
  blockDiskBytes: number | undefined;
  /** Called before each control command is carried out; may throw to make it fail, or have it wait. */
  beforeCommand: (name: string, replicaId: string) => void | Promise<void> = () => undefined;

  readonly connectControl: ConnectControl = ({ replicaId, controlUrl }) => ({
    command: async (name, ask) => {
      const node = this.nodes.get(controlUrl);
      if (node === undefined || !node.isAlive) {
        throw new StorageFault('agent.unreachable', { publicMessage: `${controlUrl} does not answer` });
      }
      await this.beforeCommand(name, replicaId);
      return node.service.command(replicaId, name, ask);
    },
  });

  /**
   * From now on a crashed process makes no further file calls, like a killed one; otherwise its work goes on beside
   * its successor.
   */
  async crashExactly(): Promise<void> {
    const folder = await this.makeFolder();
    this.tap = new FileTap(folder, (call) => {
      const path = 'file' in call ? call.file.path : 'path' in call ? call.path : call.from;
      const end = path.indexOf('/', folder.length + 1);
      if (this.buried.has(end > 0 ? path.slice(0, end) : path)) throw new Error('this process is dead');
      return undefined;
    });
    this.tap.install();
  }

  /** Refuses further calls of a dead process, and waits for those that the kernel has begun for it. */
  async bury(disk: string): Promise<void> {
    if (this.tap === undefined) return;
    this.buried.add(disk);
    await this.tap.idle(disk);
    await abandonShared(disk);
  }

  /** Each process of a node reaches the disk by a path of its own, so that their calls can be told apart. */
  async newLife(disk: string, number: number): Promise<string> {
    if (this.tap === undefined) return disk;
    const life = `${disk.replace(/-life-\d+$/, '')}-life-${number}`;
    await fs.symlink(await fs.realpath(disk), life);
    return life;
  }

  async add(name: string): Promise<ReplicaNode> {
    const disk = path.join(await this.makeFolder(), name);
    if (this.blockDiskBytes === undefined) await fs.mkdir(disk, { recursive: true });
    else await formatBlockDisk(disk, this.blockDiskBytes);
    const node = await ReplicaNode.start(this, disk, `http://${name}`);
    this.nodes.set(`http://${name}`, node);
    return node;
  }

  async stop(): Promise<void> {
    await this.removeAll();
    this.tap?.uninstall();
  }

  /** Ends all nodes and gives back the space of their disks. Others may be added then. */
  async removeAll(): Promise<void> {
    for (const node of this.nodes.values()) await node.stop();
    this.nodes.clear();
    if (this.folder === undefined) return;
    this.tap?.closeAll(this.folder);
    await fs.rm(this.folder, { recursive: true, force: true });
    this.folder = undefined;
  }

  private async makeFolder(): Promise<string> {
    this.folder ??= await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-nodes-'));
    return this.folder;
  }
}
