/** Simulated node: its disk, the process that serves its copies, and the processes of its engines. */
import type { ReplicaState } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { type RemovalClaim, requireRemovable } from '@holdfast/core/model/copy-removal.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { asId } from '@holdfast/core/model/ids.js';
import type { ConnectData } from '../../src/nbd/data-link.js';
import { COMMAND_TRAITS, type ConnectControl } from '../../src/protocol/commands.js';
import { parseExportName } from '../../src/protocol/export-names.js';
import { loadMetadata } from '../../src/replica/metadata.js';
import { removeIf } from '../../src/replica-server/removal.js';
import { openExport } from '../../src/replica-server/replica-exports.js';
import { noteConnection, ReplicaService } from '../../src/replica-server/replica-service.js';
import { SimDisk } from './sim-disk.js';
import { type End, SimLink } from './sim-link.js';
import type { SimNet } from './sim-net.js';
import { mount } from './sim-system.js';
import { Life, type World } from './world.js';

export type DiskKind = 'folder' | 'block';

/**
 * Commands with the long timeout, as in the agents' client: `apps/agent` gives these a minute and the others eight
 * seconds.
 */
const SLOW_MS = 60_000;
const CALL_MS = 8_000;

export class SimNode {
  readonly disk: SimDisk;
  /** The process that serves the copies; dead while the node is down. */
  host: Life;
  private service: ReplicaService;
  /** Queues of openings and removals, one per copy. */
  private changing = new Map<string, Promise<unknown>>();
  /** Processes of the engines. */
  readonly engines = new Set<Life>();
  isDown = false;

  constructor(
    readonly name: string,
    private readonly world: World,
    private readonly net: SimNet,
    readonly kind: DiskKind,
    private readonly nodes: ReadonlyMap<string, SimNode>,
  ) {
    this.disk = new SimDisk(world, mount);
    this.host = new Life(world, `host of ${name}`);
    this.service = this.serve();
  }

  /** Kills the process that serves the copies, and starts another one. */
  restartHost(): void {
    this.host.kill();
    this.host = new Life(this.world, `host of ${this.name}`);
    this.service = this.serve();
    // Work of the dead process never ends.
    this.changing = new Map();
  }

  /** Ends everything that runs on the node; writes that no sync has covered are kept or lost at random. */
  powerCut(keepsSome = true): void {
    this.isDown = true;
    this.host.kill(true);
    for (const life of this.engines) life.kill(true);
    this.engines.clear();
    this.disk.powerCut(keepsSome);
  }

  powerOn(): void {
    if (!this.isDown) return;
    this.isDown = false;
    this.restartHost();
  }

  /** The copies of this node as its host process has them; opened at first use, as an agent does. */
  copies(replicaId: string): Promise<ReplicaService> {
    const { service } = this;
    return this.oneAtATime(replicaId, async () => {
      await service.open(this.name, replicaId);
      return service;
    });
  }

  /** The copy's current state. */
  describe(replicaId: string): Promise<ReplicaState> {
    return this.oneAtATime(replicaId, () => this.stateOf(replicaId));
  }

  /** Removes a copy as an agent does; calls `onGone` before anything else can happen. */
  remove(replicaId: string, claim: RemovalClaim, onGone: () => void): Promise<void> {
    const { service, host } = this;
    return this.oneAtATime(replicaId, () =>
      removeIf((found) => requireRemovable(asId(replicaId), found, claim), {
        state: () => this.stateOf(replicaId),
        release: () => service.close(replicaId),
        discard: async () => {
          onGone();
          await (await this.openDisk(host)).remove(replicaId);
        },
      }),
    );
  }

  /** True if the copy can't be opened any more, as an agent reports it. */
  isCorrupt(replicaId: string): Promise<boolean> {
    const opened = this.copies(replicaId).then(
      () => false,
      (error: unknown) => isFault(error, 'replica.corrupt'),
    );
    // The process may die over it.
    return Promise.race([opened, this.world.sleep(SLOW_MS).then(() => false)]);
  }

  async discard(replicaId: string): Promise<void> {
    const { service, host } = this;
    await this.oneAtATime(replicaId, async () => {
      await service.close(replicaId);
      await (await this.openDisk(host)).remove(replicaId);
    });
  }

  private async stateOf(replicaId: string): Promise<ReplicaState> {
    const { service, host } = this;
    const open = (await service.reports()).find((report) => report.replicaId === replicaId);
    if (open !== undefined) return present(open.record);
    const disk = await this.openDisk(host);
    if (!(await disk.list()).includes(replicaId)) return { state: 'absent' };
    const files = await disk.open(replicaId);
    try {
      return present((await loadMetadata(files)).record);
    } finally {
      await files.close();
    }
  }

  private oneAtATime<T>(replicaId: string, work: () => Promise<T>): Promise<T> {
    const { changing } = this;
    const mine = (changing.get(replicaId) ?? Promise.resolve()).then(work, work);
    changing.set(replicaId, mine);
    return mine;
  }

  openDisk(life: Life) {
    return this.kind === 'folder'
      ? Promise.resolve(this.disk.folderStore(life))
      : this.disk.device.store(life);
  }

  /** Control channels from a process on this node to copies anywhere. */
  connectControl(life: Life): ConnectControl {
    return ({ replicaId, controlUrl }) => ({
      command: (name, ask) =>
        this.net.call(
          { life, node: this.name },
          controlUrl,
          () => {
            const node = this.nodes.get(controlUrl);
            if (node === undefined || node.isDown) return undefined;
            return {
              life: node.host,
              // Serialised, as on a network: the two ends share no objects.
              run: async () => {
                const step = stepOf(name, ask);
                await this.net.mayRun(step, node.host);
                const answer = await (await node.copies(replicaId)).command(replicaId, name, plain(ask));
                this.net.onCommand(step, node.name);
                return plain(answer);
              },
            };
          },
          COMMAND_TRAITS[name].patience === 'long' ? SLOW_MS : CALL_MS,
        ),
    });
  }

  connectData(life: Life): ConnectData {
    return async ({ host, exportName }, timeoutMs) => {
      // An engine in the process that serves the copies reaches those of its node without a network.
      const here = host === this.name && life === this.host && (await this.service.connectHere(exportName));
      if (here) return here;
      const client: End = { node: this.name, life };
      return this.net.call(
        client,
        host,
        () => {
          const node = this.nodes.get(host);
          if (node === undefined || node.isDown) return undefined;
          return { life: node.host, run: () => node.accept(exportName, client) };
        },
        timeoutMs,
      );
    };
  }

  private async accept(exportName: string, client: End): Promise<SimLink> {
    const name = parseExportName(exportName);
    if (name === undefined) throw new StorageFault('replica.not_found', { publicMessage: 'no such export' });
    const server: End = { node: this.name, life: this.host };
    const served = await (await this.copies(name.replicaId)).find(name.replicaId);
    const link = new SimLink(this.net, client, server, openExport(served, name));
    if (name.kind !== 'snapshot') {
      noteConnection(served, { epoch: name.epoch, destroy: link.cut, ended: link.ended });
    }
    return link;
  }

  private serve(): ReplicaService {
    const { host } = this;
    return new ReplicaService(this.connectControl(host), {
      time: host.time,
      connectData: this.connectData(host),
      openDisk: () => this.openDisk(host),
    });
  }
}

function present(record: CopyRecord | null): ReplicaState {
  return {
    state: 'present',
    record,
  };
}

/**
 * Step name of a command. A `clear-intent` that clears marks is another step than one which only says that the copy has
 * all.
 */
function stepOf(name: string, ask: object): string {
  const regions = 'regions' in ask && Array.isArray(ask.regions) ? ask.regions : [];
  return name === 'clear-intent' && regions.length === 0 ? 'tell-whole' : name;
}

function plain<T>(value: T): T {
  return value === undefined || value === null ? value : (JSON.parse(JSON.stringify(value)) as T);
}
