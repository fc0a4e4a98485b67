/**
 * Rebuild of one copy, coordinated by the engine.
 *
 * The target joins as WO under a short barrier in which all current copies take the same system snapshot. It then
 * syncs its frozen layers itself, and proves by content that it has them; only then is it promoted. If the engine
 * dies, the target is no member of any record, and the next rebuild continues with what it has.
 */
import type { RebuildOptions, RebuildReport, ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import { faultCodeOf, isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import { NO_BYTES } from '@holdfast/core/model/rebuild.js';
import { type Ports, portsOf } from '../nbd/ports.js';
import { type ChainFacts, chainUpTo } from '../protocol/layers.js';
import { PROGRESS_WAIT_MS, type PulledLayer, type PullProgress, type PullTuning } from '../protocol/pull.js';
import { DEFAULT_REBUILD_OPTIONS, type RebuildSpec } from './engine-state.js';
import { joinTarget, type RebuildHost } from './join-target.js';
import { purgeChains } from './purge-chain.js';
import { recentRate } from './recent-rate.js';
import { openLink, type ReplicaLink } from './replica-link.js';
import { UserActivity } from './user-activity.js';

/** How often a rebuild checks for user activity and for its own end while it waits for its target, in milliseconds. */
const LOOK_MS = 100;
/**
 * Maximum attempts, each from sources that have not been tried yet while there are any: a lost or stuck source is replaced. After the
 * last one the rebuild fails and is queued again.
 */
const ATTEMPTS_MAX = 6;
/** Minimum interval between reports of mere progress, in milliseconds. */
const REPORT_MS = 500;

export class RebuildRun {
  private state: RebuildReport['state'] = 'running';
  private phase: RebuildReport['phase'] = 'preparing';
  private progress: Pick<PullProgress, 'bytes' | 'snapshots'> = { bytes: NO_BYTES, snapshots: [] };
  private error: RebuildReport['error'] = null;
  private link: ReplicaLink | undefined;
  private reading: readonly ReplicaId[] = [];
  private cancelled = false;
  private ended: Promise<void> | undefined;
  private readonly rateOf = recentRate();
  private rateBytesPerSecond = 0;
  private reportedAtMs = 0;
  private tuning: PullTuning;
  private readonly activity: UserActivity;
  private readonly options: RebuildOptions;
  private readonly ports: Ports;

  constructor(
    private readonly host: RebuildHost,
    private readonly rebuild: RebuildSpec,
  ) {
    this.ports = portsOf(host.dependencies);
    this.options = rebuild.options ?? DEFAULT_REBUILD_OPTIONS;
    this.tuning = { paused: false, bandwidthBytesPerSecond: this.options.bandwidthBytesPerSecond };
    this.activity = new UserActivity(() => host.device.requests);
  }

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

  /** Changes the rebuild's speed, or pauses it, while it runs. User I/O still reaches the target. */
  tune({ paused, bandwidthBytesPerSecond }: PullTuning): void {
    this.retune({ ...this.tuning, paused, bandwidthBytesPerSecond });
    this.host.dependencies.onChange();
  }

  private retune(tuning: PullTuning): void {
    this.tuning = tuning;
    const { epoch } = this.host.spec;
    // A target that does not pull yet gets the settings when it starts; an unreachable one fails anyway.
    void this.link?.control
      .command('tune-pull', { epoch, rebuildId: this.rebuildId, tuning })
      .catch(() => undefined);
  }

  /** Yields to users: a rebuild without a limit takes what it can get, and users at work must keep at least half. */
  private leaveRoom(): void {
    const yields = this.activity.look(this.ports.time.nowMs());
    if (yields !== (this.tuning.yields === true)) this.retune({ ...this.tuning, yields });
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
      paused: this.tuning.paused,
      bytes: { ...this.progress.bytes },
      rateBytesPerSecond: this.rateBytesPerSecond,
      sourceReplicaIds: [...this.reading],
      snapshots: this.progress.snapshots.map((snapshot) => ({ ...snapshot })),
      error: this.error,
    };
  }

  private async run(): Promise<void> {
    const { host } = this;
    // Waits for resync and drop marks: before that, the content of a snapshot would not be the same on all copies.
    await host.equal();
    await host.drops.marked();
    this.requireGoingOn();
    if (this.options.purgesFirst) {
      await purgeChains(host.copies.withMode('RW'), host.spec.epoch, () => this.requireGoingOn());
    }
    const link = await this.openTarget();
    const layers = await joinTarget(host, { ...this.rebuild, options: this.options }, link, this.source());
    this.enter('copying');
    await this.pull(link, layers);
    this.requireGoingOn();
    this.enter('promoting');
    await host.device.exclusive(async () => {
      // Flushes all copies together: a copy counts the flushes that it receives (see `Flushing`).
      await host.device.flushCopies();
      await host.copies.promote(link);
    });
  }

  private async openTarget(): Promise<ReplicaLink> {
    const { spec, dependencies } = this.host;
    const { target } = this.rebuild;
    const { connectControl } = dependencies;
    const { epoch, grantId } = spec;
    const { connectData } = this.ports;
    const timeoutMs = this.host.replicaTimeoutMs;
    this.link = await openLink(target, {
      epoch,
      grantId,
      mode: 'WO',
      connectControl,
      connectData,
      timeoutMs,
    });
    return this.link;
  }

  /** The address of a source, with a secret that permits the target's node to read it and nothing else. */
  private lent(source: ReplicaAddress): ReplicaAddress {
    const { readerSecretOf = (secret) => secret } = this.host.dependencies;
    return { ...source, secret: readerSecretOf(source.secret, this.rebuild.target.nodeId) };
  }

  /** Has the target pull from one source after another until it has verified everything. */
  private async pull(link: ReplicaLink, layers: PulledLayer[]): Promise<void> {
    const { epoch } = this.host.spec;
    const { blockHash } = this.options;
    const tried = new Set<string>();
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const sources = await this.sources(tried, layers);
      for (const { replicaId } of sources) tried.add(replicaId);
      this.reading = sources.map(({ replicaId }) => replicaId);
      await link.control.command('pull', {
        epoch,
        rebuildId: this.rebuildId,
        sources: sources.map(({ address }) => this.lent(address)),
        layers,
        blockHash,
        tuning: this.tuning,
        attempt: attempt + 1,
      });
      if ((await this.follow(link, sources)) === 'verified') return;
    }
    throw new StorageFault('rebuild.failed', {
      publicMessage: `no source lasted, in ${ATTEMPTS_MAX} attempts`,
    });
  }

  /** Watches one attempt. Returns when it is verified, or when its source is lost; throws other failures. */
  private async follow(
    link: ReplicaLink,
    sources: readonly ReplicaLink[],
  ): Promise<'verified' | 'source-lost'> {
    let movedAtMs = this.ports.time.nowMs();
    let moved = -1;
    let state: PullProgress['state'] = 'copying';
    // No limit: a user may pause a rebuild for as long as they like, and one that moves nothing ends below.
    for (;;) {
      const progress = await this.progressAfter(state, link);
      state = progress.state;
      this.note(progress);
      if (progress.state === 'verified') return 'verified';
      if (progress.error?.sourceLost) return 'source-lost';
      if (progress.error !== null) throw faultOf(progress.error);
      if (sources.some(({ mode }) => mode !== 'RW')) return 'source-lost';
      const { bytes, steps = 0 } = progress;
      const amount = bytes.sent + bytes.compared + bytes.verified + steps;
      if (amount !== moved || this.tuning.paused) movedAtMs = this.ports.time.nowMs();
      moved = amount;
      // A silent source looks like a slow one; it is replaced if nothing has moved for twice the replica timeout.
      if (this.ports.time.nowMs() - movedAtMs > 2 * this.host.replicaTimeoutMs) return 'source-lost';
    }
  }

  /** The target's progress, answered when it leaves this state or after a while. @throws as soon as the rebuild can't continue */
  private async progressAfter(state: PullProgress['state'], { control }: ReplicaLink): Promise<PullProgress> {
    const { epoch } = this.host.spec;
    const wait = { state, atMostMs: PROGRESS_WAIT_MS };
    const asked = control.command('progress', { epoch, rebuildId: this.rebuildId, wait });
    // Not waited for any longer once something else has failed.
    asked.catch(() => undefined);
    for (;;) {
      const pause = this.ports.time.sleep(LOOK_MS);
      const progress = await Promise.race([asked, pause]);
      this.requireGoingOn();
      if (progress !== undefined && progress.state !== state) return progress;
      // Also after an answer: older targets give theirs at once.
      await pause;
      this.requireGoingOn();
      this.leaveRoom();
      if (progress !== undefined) return progress;
    }
  }

  private note({ state, bytes, snapshots }: PullProgress): void {
    this.progress = { bytes: this.monotone(bytes), snapshots };
    const rate = this.rateOf({ atMs: this.ports.time.nowMs(), bytes: bytes.sent });
    if (state === 'copying') this.rateBytesPerSecond = rate;
    if (state === 'verifying' && this.phase === 'copying') this.enter('verifying');
    const nowMs = this.ports.time.nowMs();
    if (nowMs - this.reportedAtMs < REPORT_MS) return;
    this.reportedAtMs = nowMs;
    this.host.dependencies.onChange();
  }

  /** Keeps the reported progress from running backwards when another source restarts its checks. */
  private monotone(next: RebuildReport['bytes']): RebuildReport['bytes'] {
    const { bytes } = this.progress;
    return {
      total: Math.max(bytes.total, next.total),
      compared: Math.max(bytes.compared, next.compared),
      skipped: Math.max(bytes.skipped, next.skipped),
      sent: Math.max(bytes.sent, next.sent),
      written: Math.max(bytes.written, next.written),
      verified: Math.max(bytes.verified, next.verified),
    };
  }

  /** A current copy to read from: the first that was not tried yet, else the first. */
  private source(tried: ReadonlySet<string> = new Set()): ReplicaLink {
    this.host.copies.requireServing();
    const current = this.inOrder();
    const source = current.find(({ replicaId }) => !tried.has(replicaId)) ?? current[0];
    if (source === undefined) {
      throw new StorageFault('rebuild.failed', { publicMessage: 'there is no current copy to read from' });
    }
    return source;
  }

  /** The source, and other current copies with exactly the same layers. */
  private async sources(tried: ReadonlySet<string>, layers: readonly PulledLayer[]): Promise<ReplicaLink[]> {
    const first = this.source(tried);
    const { sourcesMax } = this.options;
    const others = this.inOrder().filter((link) => link !== first && !tried.has(link.replicaId));
    const { epoch } = this.host.spec;
    const chainOf = ({ control }: ReplicaLink) => control.command('chain', { epoch });
    if (!holdsJust(await chainOf(first), layers)) {
      throw new StorageFault('rebuild.failed', {
        publicMessage: 'the copy that is read from does not hold the layers that the target was prepared for',
      });
    }
    const sources = [first];
    for (const link of others) {
      if (sources.length >= sourcesMax) break;
      const chain = await chainOf(link).catch(() => undefined);
      if (chain !== undefined && holdsJust(chain, layers)) sources.push(link);
    }
    return sources;
  }

  /** Current copies as the control plane wants them read, then those that it did not name. */
  private inOrder(): ReplicaLink[] {
    const { sourceReplicaIds } = this.rebuild;
    const placeOf = ({ replicaId }: ReplicaLink) => {
      const at = sourceReplicaIds.indexOf(replicaId);
      return at === -1 ? sourceReplicaIds.length : at;
    };
    return [...this.host.copies.withMode('RW')].sort((a, b) => placeOf(a) - placeOf(b));
  }

  private enter(phase: RebuildReport['phase']): void {
    this.phase = phase;
    if (phase === 'copying') this.rateOf({ atMs: this.ports.time.nowMs(), bytes: this.progress.bytes.sent });
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
        // An unreachable target ends its copying when its source refuses it.
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

/**
 * True if the device, up to the snapshot of the rebuild, stands on exactly the layers that the target was prepared
 * for. A source with one more, because a freeze did not reach all copies, would leave the target without that layer's
 * data.
 */
function holdsJust({ layers }: ChainFacts, planned: readonly PulledLayer[]): boolean {
  const ids = new Set(planned.map(({ id }) => id));
  const held = new Set(layers.map(({ id }) => id));
  const top = planned.at(-1)?.id ?? null;
  return planned.every(({ id }) => held.has(id)) && chainUpTo(layers, top).every(({ id }) => ids.has(id));
}

function faultOf({ code, message }: { code: string; message: string }): StorageFault {
  return new StorageFault(faultCodeOf(code, 'rebuild.failed'), { publicMessage: message });
}
