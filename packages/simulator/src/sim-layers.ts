/** The layers of simulated copies, as the control plane sees them: taken, marked, reverted to, purged and hashed. */
import type { EngineAnswer } from '@holdfast/core/model/engine-commands.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { checksumOf, type SimCopy, type SimLayer } from './sim-copy.js';

/** Ticks of the world for which a purge or a hash goes on behind its answer. */
const BUSY_TURNS = 2;

export class SimLayers {
  /** How many were begun. */
  purges = 0;
  private busy: { what: string; turnsLeft: number; finish: () => void } | undefined;

  constructor(
    private sizeBytes: number,
    private readonly current: () => readonly SimCopy[],
    private readonly isRebuilding: () => boolean,
  ) {}

  get isBusy(): boolean {
    return this.busy?.what === 'purging';
  }

  get isAtWork(): boolean {
    return this.busy !== undefined;
  }

  tick(): void {
    if (this.busy === undefined) return;
    this.busy.turnsLeft -= 1;
    if (this.busy.turnsLeft > 0) return;
    this.busy.finish();
    this.busy = undefined;
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
          checksum: layer.isHashed ? [...layer.writes].join() : null,
        })),
      })),
    };
  }

  take(layer: Omit<SimLayer, 'writes' | 'isHashed' | 'removed'>): void {
    for (const copy of this.current()) {
      if (copy.layers.some(({ id }) => id === layer.id)) continue;
      const taken = { ...layer, removed: false, writes: new Set(copy.writes), isHashed: false };
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

  hash(snapshotId: string): void {
    this.require(snapshotId);
    this.start('hashing', () =>
      this.onAll((layer) => (layer.id === snapshotId ? { ...layer, isHashed: true } : layer)),
    );
  }

  private start(what: string, finish: () => void): void {
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

/** What must be so of copies that are served together. */
export function haveEqualLayers(a: SimCopy, b: SimCopy): boolean {
  const facts = ({ layers }: SimCopy) => layers.map(({ id, removed }) => `${id} ${removed}`).join();
  return facts(a) === facts(b) && checksumOf(a) === checksumOf(b);
}
