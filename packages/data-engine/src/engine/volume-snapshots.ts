/**
 * Snapshot operations of an attached volume, on all its copies at once: take, delete, purge, revert, and expand.
 *
 * Operations that change layers wait for resync, after which each layer reads the same on all copies. One such
 * operation at a time, and none during a rebuild; taking a snapshot and marking one as deleted are exceptions.
 */
import crypto from 'node:crypto';
import type { EngineAnswer } from '@holdfast/core/model/engine-commands.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { type Ports, portsOf } from '../nbd/ports.js';
import { snapshotNotFound } from '../protocol/replica-faults.js';
import type { Copies } from './copies.js';
import { freezeAll } from './freeze.js';
import { hashSnapshot, proveLayers } from './hash-snapshot.js';
import { failuresOfCommand, judgeCommand, refusalOf } from './judge-command.js';
import { purgeChains } from './purge-chain.js';
import { revertAll } from './revert-all.js';
import type { VolumeDevice } from './volume-device.js';

export interface SnapshotHost {
  readonly spec: { epoch: number };
  readonly copies: Copies;
  readonly device: VolumeDevice;
  readonly dependencies: Partial<Ports>;
  readonly isRebuilding: boolean;
  readonly hasClients: boolean;
  equal(): Promise<void>;
}

export type NewSnapshot = { id: string; name: string; origin: 'user' | 'system'; createdAt: string };

export class VolumeSnapshots {
  private busyWith: string | undefined;
  /** When the last change of layers ended, in milliseconds of the engine's clock: the copies may hold less since. */
  lastChangeMs = Number.NEGATIVE_INFINITY;
  private hashing = 0;
  private failure = '';

  constructor(private readonly host: SnapshotHost) {}

  private get time(): Ports['time'] {
    return portsOf(this.host.dependencies).time;
  }

  /** @throws StorageFault `engine.busy` while a purge, revert or expansion runs. */
  requireNotBusy(): void {
    if (this.busyWith === undefined) return;
    throw new StorageFault('engine.busy', { publicMessage: `the volume is busy: ${this.busyWith}` });
  }

  /** The volume's layers as one current copy holds them, with the checksums of all copies. */
  async describe(): Promise<EngineAnswer<'layers'>> {
    const { copies, spec, device } = this.host;
    copies.requireServing();
    const asked = await Promise.allSettled(
      copies.withMode('RW').map(async ({ replicaId, control }) => ({
        replicaId,
        chain: await control.command('chain', { epoch: spec.epoch }),
      })),
    );
    // A copy that has just failed is skipped; the others have the same layers.
    const chains = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const [first] = chains;
    if (first === undefined)
      throw new StorageFault('engine.no_replica', { publicMessage: 'no copy answers' });
    const { layers, head } = first.chain;
    return {
      sizeBytes: device.sizeBytes,
      busy: this.busyWith ?? (this.hashing > 0 ? 'hashing' : ''),
      lastError: this.failure,
      headParentId: head.parentId,
      headBytes: head.heldBytes,
      layers: layers.map(({ drop: _, checksum: __, ...layer }) => ({
        ...layer,
        checksums: chains.map(({ replicaId, chain }) => ({
          replicaId,
          checksum: chain.layers.find(({ id }) => id === layer.id)?.checksum ?? null,
        })),
      })),
    };
  }

  async list(): Promise<EngineAnswer<'layers'>['layers']> {
    return (await this.describe()).layers;
  }

  /**
   * Takes a snapshot of every acknowledged write, and perhaps of some in flight. Idempotent: the same id twice is one
   * snapshot.
   *
   * @throws StorageFault `replica.too_many_layers`
   */
  async take({ id, name, origin, createdAt }: NewSnapshot): Promise<void> {
    const { copies, device, spec } = this.host;
    await this.host.equal();
    // Flushes before the barrier, so that little is left to flush while writes wait.
    await device.flush();
    await device.exclusive(() =>
      freezeAll(copies, spec.epoch, {
        sizeBytes: device.sizeBytes,
        layer: { id, name, origin, createdAt, drop: null },
      }),
    );
  }

  /** Marks a snapshot as deleted; a purge removes its layer. */
  async remove(layerId: string): Promise<void> {
    await this.host.equal();
    const { copies, spec } = this.host;
    const targets = copies.all.filter(({ mode }) => mode !== 'ERR');
    const failures = await failuresOfCommand(targets, ({ control }) =>
      control.command('mark-removed', { epoch: spec.epoch, layerId }),
    );
    // Where it is refused, copies that have marked it read the same as the others, and asking again makes them alike.
    const { costs, refusedBy } = judgeCommand(targets, failures, true);
    for (const copy of costs) copies.fail(copy, failures.get(copy));
    await copies.membership.recordDurable();
    copies.requireServing();
    if (refusedBy.length > 0) throw refusalOf(refusedBy, failures);
  }

  /**
   * Reverts the volume to a snapshot. What was written since survives only in other snapshots. Layers that may have changed since
   * they were hashed are hashed first, beside users' writes; a copy that does not have them any more is dropped before it is read.
   *
   * @param taskId the request's idempotency key. If all copies have already done that request, later writes and
   *   deletions stay: the caller only missed the answer, and retries.
   * @throws StorageFault `volume.in_use` while a client is connected: its caches would be stale.
   */
  async revert(layerId: string, taskId?: string): Promise<void> {
    const { device } = this.host;
    if (taskId !== undefined && (await this.isReverted(taskId))) return;
    if (this.host.hasClients) {
      throw new StorageFault('volume.in_use', {
        publicMessage: 'a client is connected: disconnect it before the volume is reverted',
        cures: ['unmount, disconnect the NBD client, and revert again'],
      });
    }
    await this.alone('reverting', async () => {
      if (!(await this.list()).some(({ id, removed }) => id === layerId && !removed))
        throw snapshotNotFound();
      const { copies, spec } = this.host;
      await proveLayers(copies, spec.epoch, layerId, this.time);
      await device.exclusive(() =>
        revertAll(copies, spec.epoch, {
          layerId,
          revertId: taskId,
          sizeBytes: device.sizeBytes,
          createdAt: this.time.date().toISOString(),
        }),
      );
    });
  }

  private async isReverted(taskId: string): Promise<boolean> {
    this.requireNotBusy();
    const { copies, spec } = this.host;
    const chains = await Promise.all(
      copies.withMode('RW').map(({ control }) => control.command('chain', { epoch: spec.epoch })),
    );
    copies.requireServing();
    return chains.every(({ lastRevertId }) => lastRevertId === taskId);
  }

  /** Makes the volume larger while it is in use. Shrinking is refused by the control plane. */
  async expand(sizeBytes: number): Promise<void> {
    const { copies, device, spec } = this.host;
    if (sizeBytes <= device.sizeBytes) return;
    await this.alone('expanding', async () => {
      await device.flush();
      await device.exclusive(async () => {
        await freezeAll(copies, spec.epoch, {
          sizeBytes,
          layer: {
            id: crypto.randomUUID(),
            name: `expand-${sizeBytes}`,
            origin: 'system',
            createdAt: this.time.date().toISOString(),
            drop: null,
          },
        });
        device.grow(sizeBytes);
      });
    });
  }

  /** Starts a purge without a waiting caller; `describe` reports its progress. */
  beginPurge(): void {
    this.requireIdle();
    this.inBackground(() => this.purge());
  }

  /** Removes deleted layers, and those that rebuilds left behind, on every copy. */
  async purge(): Promise<void> {
    const { copies, spec } = this.host;
    await this.alone('purging', () =>
      purgeChains(copies.withMode('RW'), spec.epoch, () => copies.requireServing()),
    );
  }

  /** Starts hashing a snapshot without a waiting caller; `describe` reports its progress. */
  beginHash(snapshotId: string, force: boolean): void {
    this.inBackground(() => this.hash(snapshotId, force));
  }

  /**
   * Hashes a snapshot on all copies; a copy with a corrupted one is dropped, to be rebuilt. It blocks nothing else: a
   * layer that a purge changes meanwhile is not hashed, and `describe` says so.
   */
  async hash(snapshotId: string, force: boolean): Promise<void> {
    const { copies, spec } = this.host;
    if (!(await this.list()).some(({ id }) => id === snapshotId)) throw snapshotNotFound();
    this.hashing += 1;
    try {
      await hashSnapshot(copies, spec.epoch, snapshotId, force, this.time);
    } finally {
      this.hashing -= 1;
    }
  }

  private inBackground(work: () => Promise<void>): void {
    this.failure = '';
    work().catch((error: unknown) => {
      this.failure = error instanceof Error ? error.message : String(error);
    });
  }

  private requireIdle(): void {
    this.requireNotBusy();
    if (!this.host.isRebuilding) return;
    throw new StorageFault('engine.busy', { publicMessage: 'a rebuild of this volume is running' });
  }

  private async alone(what: string, work: () => Promise<void>): Promise<void> {
    this.requireIdle();
    this.busyWith = what;
    try {
      await this.host.equal();
      await work();
    } finally {
      this.busyWith = undefined;
      this.lastChangeMs = this.time.nowMs();
    }
  }
}
