import type { VolumeView } from '@holdfast/control/ports/store.js';
import { Bug } from '@holdfast/core/model/faults.js';
import type { DiskId, SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import { endpointOf, holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import type { SimEngine } from './sim-engine.js';
import type { World } from './world.js';

/** A user has accepted a disk's content: for volumes without a full copy elsewhere nothing else is left. */
export function settleForDisk(clients: readonly SimClient[], diskId: DiskId, { store }: World): void {
  for (const client of clients) {
    const full = store.tables.replicas.by('volume', client.volumeId).filter(isHealthy);
    if (full.length > 0 && full.every((replica) => replica.diskId === diskId)) client.settleFor();
  }
}

/** A client of a volume, which records acknowledged writes. */
export class SimClient {
  readonly acknowledged = new Set<number>();
  /** Writes acknowledged when a snapshot was requested, so that the snapshot holds them. */
  private readonly frozen = new Map<SnapshotId, ReadonlySet<number>>();

  constructor(
    private readonly world: World,
    readonly volumeId: VolumeId,
  ) {
    world.acknowledged.set(volumeId, this.acknowledged);
  }

  async view(): Promise<VolumeView> {
    const view = await this.world.store.loadVolume(this.volumeId);
    if (view === undefined) throw new Bug(`volume ${this.volumeId} is gone`);
    return view;
  }

  /** Writes once over the endpoint that the volume shows. True when it was acknowledged. */
  async write(): Promise<boolean> {
    const engine = await this.engine();
    const number = this.world.nextWrite();
    const isAcknowledged = (await engine?.write(number)) ?? false;
    this.world.fleet.stir(this.volumeId);
    // Writes during a requested revert may be lost with it.
    const isReverting = (await this.view()).volume.task?.kind === 'revert';
    if (isAcknowledged && !isReverting) this.acknowledged.add(number);
    return isAcknowledged;
  }

  noteSnapshot(snapshotId: SnapshotId): void {
    this.frozen.set(snapshotId, new Set(this.acknowledged));
  }

  /** A new clone of a snapshot holds once it is filled what that snapshot does. */
  inherit(source: SimClient, snapshotId: SnapshotId): void {
    const held = source.frozen.get(snapshotId) ?? [];
    this.world.onFilled.set(this.volumeId, () => {
      for (const number of held) this.acknowledged.add(number);
    });
  }

  /** After a revert was requested: earlier acknowledged writes may be gone, because a user wanted that. */
  async revert(): Promise<void> {
    this.acknowledged.clear();
    const { snapshots } = await this.view();
    // A pending snapshot is taken after the revert.
    for (const { id, state } of snapshots) if (state !== 'ready') this.frozen.delete(id);
  }

  /** After a salvage: also a copy that is known to be damaged is what the user wants to go on with. */
  settleFor(): void {
    this.acknowledged.clear();
    this.frozen.clear();
    for (const { copies } of this.world.nodes)
      for (const copy of copies.values()) if (copy.volumeId === this.volumeId) copy.isKnownDamaged = false;
  }

  /** Acknowledged writes that some copy which the engine would read from does not hold. */
  async missing(): Promise<number[]> {
    const { replicas } = await this.view();
    const engine = await this.engine();
    const readable = new Set(
      engine
        ?.report()
        .replicas.filter(({ mode }) => mode === 'RW')
        .map(({ replicaId }) => replicaId),
    );
    const copies = replicas
      .filter(({ id }) => readable.has(id))
      .flatMap((replica) => this.world.fleet.holderOf(replica)?.copies.get(replica.id) ?? []);
    return [...this.acknowledged].filter((number) => copies.some(({ writes }) => !writes.has(number)));
  }

  /** The engine at the address that the volume shows, if it can be reached there. */
  async engine(): Promise<SimEngine | undefined> {
    const { volume } = await this.view();
    if (endpointOf(volume) === undefined) return undefined;
    const holder = this.world.nodes.find(({ nodeId }) => nodeId === holderOf(volume));
    const isThere = holder?.isAlive === true && holder.isConnected;
    const engine = isThere ? holder.engines.get(volume.id) : undefined;
    return engine?.epoch === volume.epoch ? engine : undefined;
  }
}
