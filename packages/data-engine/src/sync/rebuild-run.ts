/**
 * One full rebuild of one copy, led by the engine (DESIGN section 5).
 *
 * The target starts empty and joins as WO behind a short barrier in which all current copies take the same system
 * snapshot. It then pulls the frozen layers itself, and proves by content that it has them; only then is it promoted.
 * If the engine dies, the target is no member of any record and the next rebuild starts over.
 */

import crypto from 'node:crypto';
import type { RebuildReport } from '@holdfast/core/model/agent-protocol.js';
import { FAULTS, type FaultCode, isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { NO_BYTES } from '@holdfast/core/model/rebuild.js';
import type { Copies } from '../engine/copies.js';
import type { EngineDependencies, RebuildSpec } from '../engine/engine-state.js';
import { openLink, type ReplicaLink } from '../engine/replica-link.js';
import type { FrozenLayer, PulledLayer, PullProgress } from '../replica/commands.js';
import { mergeSystemLayers } from './merge-system-layers.js';

/** How often the target is asked how far it is. */
const POLL_MS = 100;
/** A source that is lost or stuck is replaced; after so many the rebuild fails and is queued again by others. */
const SOURCES_MAX = 6;
/** Reports of mere progress are no more frequent than this. */
const REPORT_MS = 500;

export interface RebuildHost {
  readonly spec: { epoch: number; replicaTimeoutMs: number };
  readonly copies: Copies;
  readonly dependencies: EngineDependencies;
  readonly device: { exclusive<T>(work: () => Promise<T>): Promise<T>; flush(): Promise<void> };
  equal(): Promise<void>;
}

export class RebuildRun {
  private state: RebuildReport['state'] = 'running';
  private phase: RebuildReport['phase'] = 'preparing';
  private progress: Pick<PullProgress, 'bytes' | 'snapshots'> = { bytes: NO_BYTES, snapshots: [] };
  private error: RebuildReport['error'] = null;
  private link: ReplicaLink | undefined;
  private cancelled = false;
  private ended: Promise<void> | undefined;
  private copyingSinceMs = 0;
  private rateBytesPerSecond = 0;
  private reportedAtMs = 0;

  constructor(
    private readonly host: RebuildHost,
    private readonly rebuild: RebuildSpec,
  ) {}

  get rebuildId(): string {
    return this.rebuild.rebuildId;
  }

  get isRunning(): boolean {
    return this.state === 'running';
  }

  start(): void {
    this.ended ??= this.run().then(
      () => this.finish('succeeded', null),
      (error: unknown) => this.fail(error),
    );
  }

  /** Resolves when the target is out of use. Does nothing once the rebuild has ended. */
  async cancel(): Promise<void> {
    this.cancelled = true;
    await this.ended;
  }

  report(): RebuildReport {
    return {
      rebuildId: this.rebuildId,
      replicaId: this.rebuild.target.replicaId,
      state: this.state,
      phase: this.phase,
      bytes: { ...this.progress.bytes },
      rateBytesPerSecond: this.rateBytesPerSecond,
      snapshots: this.progress.snapshots.map((snapshot) => ({ ...snapshot })),
      error: this.error,
    };
  }

  private async run(): Promise<void> {
    // Until the copies are equal there is nothing that a snapshot could fix.
    await this.host.equal();
    this.requireGoingOn();
    await mergeSystemLayers(this.host.copies.withMode('RW'), this.host.spec.epoch, () =>
      this.requireGoingOn(),
    );
    const link = await this.openTarget();
    const layers = await this.join(link);
    this.enter('copying');
    await this.pull(link, layers);
    this.requireGoingOn();
    this.enter('promoting');
    await this.host.device.exclusive(async () => {
      await link.client.flush();
      await this.host.copies.promote(link);
    });
  }

  private async openTarget(): Promise<ReplicaLink> {
    const { spec, dependencies } = this.host;
    const { target } = this.rebuild;
    const { connectControl } = dependencies;
    this.link = await openLink(target, spec.epoch, 'WO', connectControl, spec.replicaTimeoutMs);
    return this.link;
  }

  /** Empties the target, then joins it at the very moment that the same system snapshot fixes on all copies. */
  private async join(link: ReplicaLink): Promise<PulledLayer[]> {
    const { epoch } = this.host.spec;
    const { copies } = this.host;
    const snapshot: FrozenLayer = {
      id: crypto.randomUUID(),
      name: `rebuild-${this.rebuildId}`,
      origin: 'system',
    };
    const before = await this.chainOf(this.source());
    const frozen = [...before.map(({ id, name, origin }) => ({ id, name, origin })), snapshot];
    await link.control.command('start-over', { epoch, rebuildId: this.rebuildId, layers: frozen });
    // Most of what the snapshot has to flush is flushed before anybody waits for it.
    await this.host.device.flush();
    await this.host.device.exclusive(async () => {
      await Promise.all(
        copies.withMode('RW').map(async (copy) => {
          await copy.control
            .command('snapshot', { epoch, layer: snapshot })
            .catch((error: unknown) => copies.fail(copy, error));
        }),
      );
      await copies.membership.settled();
      copies.requireServing();
      copies.add(link);
    });
    return this.plan(await this.chainOf(this.source()));
  }

  private plan(layers: readonly (FrozenLayer & { heldBytes: number })[]): PulledLayer[] {
    const { planLayers } = this.host.dependencies;
    const plans = new Map(
      planLayers(layers.map(({ id, name }) => ({ id, name, onTarget: 'absent' }))).map((plan) => [
        plan.id,
        plan,
      ]),
    );
    return layers.map((layer) => {
      const plan = plans.get(layer.id);
      return { ...layer, method: plan?.method ?? 'full', reason: plan?.reason ?? '' };
    });
  }

  /** Has the target pull from one source after another until it has verified everything. */
  private async pull(link: ReplicaLink, layers: PulledLayer[]): Promise<void> {
    const { epoch } = this.host.spec;
    const tried = new Set<string>();
    for (let attempt = 0; attempt < SOURCES_MAX; attempt += 1) {
      const source = this.source(tried);
      tried.add(source.replicaId);
      await link.control.command('pull', {
        epoch,
        rebuildId: this.rebuildId,
        source: { ...source.address },
        layers,
      });
      if ((await this.follow(link, source)) === 'verified') return;
    }
    throw new StorageFault('rebuild.failed', { publicMessage: `no source lasted, of ${SOURCES_MAX} tried` });
  }

  /** Watches one attempt. Ends when it is verified, or when its source is lost; other failures are thrown. */
  private async follow(link: ReplicaLink, source: ReplicaLink): Promise<'verified' | 'source-lost'> {
    const { epoch, replicaTimeoutMs } = this.host.spec;
    let movedAtMs = performance.now();
    let moved = -1;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      this.requireGoingOn();
      const progress = await link.control.command('progress', { epoch, rebuildId: this.rebuildId });
      this.note(progress);
      if (progress.state === 'verified') return 'verified';
      if (progress.error?.sourceLost) return 'source-lost';
      if (progress.error !== null) throw faultOf(progress.error);
      if (source.mode !== 'RW') return 'source-lost';
      const amount = progress.bytes.sent + progress.bytes.compared;
      if (amount !== moved) movedAtMs = performance.now();
      moved = amount;
      // A silent source looks like a slow one; another is tried once nothing has moved for as long as a copy may be silent.
      if (performance.now() - movedAtMs > 2 * replicaTimeoutMs) return 'source-lost';
    }
  }

  private note({ state, bytes, snapshots }: PullProgress): void {
    this.progress = { bytes: this.monotone(bytes), snapshots };
    const seconds = (performance.now() - this.copyingSinceMs) / 1000;
    if (state === 'copying' && seconds > 0) this.rateBytesPerSecond = Math.round(bytes.sent / seconds);
    if (state === 'verifying' && this.phase === 'copying') this.enter('verifying');
    const nowMs = performance.now();
    if (nowMs - this.reportedAtMs < REPORT_MS) return;
    this.reportedAtMs = nowMs;
    this.host.dependencies.onChange();
  }

  /** A source that takes over starts its checks again; what people see never runs backwards. */
  private monotone(next: RebuildReport['bytes']): RebuildReport['bytes'] {
    const { bytes } = this.progress;
    return {
      total: Math.max(bytes.total, next.total),
      compared: Math.max(bytes.compared, next.compared),
      skipped: Math.max(bytes.skipped, next.skipped),
      sent: Math.max(bytes.sent, next.sent),
      written: Math.max(bytes.written, next.written),
    };
  }

  /** A current copy to read from: the preferred one first, then those not tried yet, then any. */
  private source(tried: ReadonlySet<string> = new Set()): ReplicaLink {
    this.host.copies.requireServing();
    const current = this.host.copies.withMode('RW');
    const fresh = current.filter(({ replicaId }) => !tried.has(replicaId));
    const preferred = fresh.find(({ replicaId }) => replicaId === this.rebuild.sourceReplicaId);
    const source = preferred ?? fresh[0] ?? current[0];
    if (source === undefined) {
      throw new StorageFault('rebuild.failed', { publicMessage: 'there is no current copy to read from' });
    }
    return source;
  }

  private async chainOf(source: ReplicaLink): Promise<(FrozenLayer & { heldBytes: number })[]> {
    return (await source.control.command('chain', { epoch: this.host.spec.epoch })).layers;
  }

  private enter(phase: RebuildReport['phase']): void {
    this.phase = phase;
    if (phase === 'copying') this.copyingSinceMs = performance.now();
    this.host.dependencies.onChange();
  }

  private requireGoingOn(): void {
    this.host.copies.requireServing();
    if (this.cancelled)
      throw new StorageFault('rebuild.cancelled', { publicMessage: 'the rebuild was cancelled' });
    if (this.link?.mode === 'ERR')
      throw new StorageFault('rebuild.failed', { publicMessage: this.link.reason });
  }

  private async fail(error: unknown): Promise<void> {
    const fault = isFault(error)
      ? error
      : new StorageFault('rebuild.failed', { publicMessage: String(error), cause: error });
    if (this.link !== undefined) {
      const { epoch } = this.host.spec;
      await this.link.control
        .command('cancel-pull', { epoch, rebuildId: this.rebuildId })
        // An unreachable target ends its copying by itself when its source refuses it.
        .catch(() => undefined);
      this.host.copies.fail(this.link, fault);
    }
    this.finish('failed', { code: fault.code, message: fault.message });
  }

  private finish(state: 'succeeded' | 'failed', error: RebuildReport['error']): void {
    this.state = state;
    this.error = error;
    if (state === 'succeeded') this.phase = 'done';
    this.host.dependencies.onChange();
  }
}

function faultOf({ code, message }: { code: string; message: string }): StorageFault {
  // The cast follows the check: the code is one of the table's keys.
  const known = Object.hasOwn(FAULTS, code) ? (code as FaultCode) : 'rebuild.failed';
  return new StorageFault(known, { publicMessage: message });
}
