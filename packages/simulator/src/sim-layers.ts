/** The layers of simulated copies, as the control plane sees them: taken, marked, reverted to, purged and hashed. */

import { decideCorrupted, type HashedCopy } from '@holdfast/core/model/decide-corrupted.js';
import type { EngineAnswer } from '@holdfast/core/model/engine-commands.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import { checksumOf, layerChecksum, type SimCopy, type SimLayer, writesOf } from './sim-copy.js';

/** Ticks for which a purge or a hash continues after its answer. */
const BUSY_TURNS = 2;

export class SimLayers {
  /** How many were begun. */
  purges = 0;
  private busy: { what: string; turnsLeft: number; finish: () => void | Promise<void> } | undefined;

  constructor(
    private sizeBytes: number,
    private readonly current: () => readonly SimCopy[],
    private readonly isRebuilding: () => boolean,
    private readonly drop: (replicaId: ReplicaId, reason: string) => Promise<void>,
  ) {}

  get isBusy(): boolean {
    return this.busy?.what === 'purging';
  }

  get isAtWork(): boolean {
    return this.busy !== undefined;
  }

  async tick(): Promise<void> {
    if (this.busy === undefined) return;
    this.busy.turnsLeft -= 1;
    if (this.busy.turnsLeft > 0) return;
    const { finish } = this.busy;
    this.busy = undefined;
    await finish();
  }

  describe(): EngineAnswer<'layers'> {
    const copies = this.current();
    const [first] = copies;
    if (first === undefined)
      throw new StorageFault('engine.no_replica', { publicMessage: 'no copy is left' });
    return {
      sizeBytes: this.sizeBytes,
      busy: this.busy?.what ?? '',
      lastError: '',
      headParentId: first.layers.at(-1)?.id ?? null,
      headBytes: 0,
      layers: first.layers.map((layer, index) => ({
        id: layer.id,
        name: layer.name,
        origin: layer.origin,
        createdAt: layer.createdAt,
        removed: layer.removed,
        parentId: first.layers[index - 1]?.id ?? null,
        sizeBytes: this.sizeBytes,
        heldBytes: 4096 * layer.writes.size,
        checksums: copies.map(({ replicaId }) => ({
          replicaId,
          checksum: layer.checksum ?? null,
        })),
      })),
    };
  }

  take(layer: Pick<SimLayer, 'id' | 'name' | 'origin' | 'createdAt'>): void {
    for (const copy of this.current()) {
      if (copy.layers.some(({ id }) => id === layer.id)) continue;
      const isNew = { removed: false, checksum: undefined, isDamaged: false };
      const taken = { ...layer, ...isNew, writes: new Set(copy.writes) };
      copy.layers = [...copy.layers, taken];
    }
  }

  remove(snapshotId: string): void {
    this.require(snapshotId);
    this.onAll((layer) => ({ ...layer, removed: layer.removed || layer.id === snapshotId }));
  }

  revert(snapshotId: string): void {
    this.requireIdle();
    this.require(snapshotId);
    for (const copy of this.current()) {
      const layer = copy.layers.find(({ id }) => id === snapshotId);
      if (layer !== undefined) copy.writes = new Set(layer.writes);
    }
  }

  expand(sizeBytes: number): void {
    this.requireIdle();
    this.sizeBytes = Math.max(this.sizeBytes, sizeBytes);
  }

  purge(): void {
    this.requireIdle();
    this.purges += 1;
    this.start('purging', () => this.keep((layer) => !layer.removed && layer.origin === 'user'));
  }

  /** @param force reads layers again that have a checksum already */
  hash(snapshotId: string, force: boolean): void {
    this.require(snapshotId);
    this.start('hashing', () => this.compare(snapshotId, force));
  }

  /** The copies whose layer is damaged are dropped, by the real engine's rule. */
  private async compare(snapshotId: string, force: boolean): Promise<void> {
    const hashed: HashedCopy<ReplicaId>[] = [];
    for (const copy of this.current()) {
      const layer = copy.layers.find(({ id }) => id === snapshotId);
      if (layer === undefined) continue;
      const isRead = force || layer.checksum === undefined;
      const checksum = isRead ? layerChecksum(layer) : (layer.checksum ?? '');
      const silentlyCorrupted = layer.checksum !== undefined && layer.checksum !== checksum;
      copy.layers = copy.layers.map((one) => (one === layer ? { ...layer, checksum } : one));
      hashed.push({ replicaId: copy.replicaId, checksum, silentlyCorrupted });
    }
    this.noteDamage(snapshotId);
    for (const replicaId of decideCorrupted(hashed)) await this.drop(replicaId, 'a snapshot is damaged');
  }

  /** Certain damage: most copies were read, and are sound. */
  private noteDamage(snapshotId: string): void {
    const compared = this.current().flatMap((copy) => {
      const layer = copy.layers.find(({ id }) => id === snapshotId);
      return layer === undefined ? [] : [{ copy, isFoundOut: layer.checksum?.endsWith('damaged') === true }];
    });
    const found = compared.filter(({ isFoundOut }) => isFoundOut);
    if (2 * found.length >= compared.length) return;
    for (const { copy } of found) copy.isKnownDamaged = true;
  }

  private start(what: string, finish: () => void | Promise<void>): void {
    this.busy = { what, turnsLeft: BUSY_TURNS, finish };
  }

  private requireIdle(): void {
    if (this.busy === undefined && !this.isRebuilding()) return;
    throw new StorageFault('engine.busy', { publicMessage: this.busy?.what ?? 'a rebuild runs' });
  }

  private require(snapshotId: string): void {
    if (this.current().some(({ layers }) => layers.some(({ id }) => id === snapshotId))) return;
    throw new StorageFault('snapshot.not_found', { publicMessage: `there is no snapshot ${snapshotId}` });
  }

  private onAll(change: (layer: SimLayer) => SimLayer): void {
    for (const copy of this.current()) copy.layers = copy.layers.map(change);
  }

  private keep(isWanted: (layer: SimLayer) => boolean): void {
    for (const copy of this.current()) copy.layers = copy.layers.filter(isWanted);
  }
}

/** Invariants of copies that are served together. */
export function haveEqualLayers(a: SimCopy, b: SimCopy): boolean {
  const facts = ({ layers }: SimCopy) => layers.map(({ id, removed }) => `${id} ${removed}`).join();
  const held = (copy: SimCopy) => checksumOf({ ...copy, writes: writesOf(copy) });
  return facts(a) === facts(b) && held(a) === held(b);
}
