/**
 * Target side of a rebuild: brings all frozen layers up to the sources' content in a pipelined stream, and proves
 * behind it, by content, that its own files hold the same.
 *
 * It works on frozen layers only; user writes go to the head meanwhile. Its progress survives the loss of a source,
 * and other sources continue from it. A crash loses the job, not the bytes: the next rebuild compares what is there
 * already and sends the rest.
 */
import { isFault } from '@holdfast/core/model/faults.js';
import { NO_BYTES } from '@holdfast/core/model/rebuild.js';
import { inFlight } from '../base/in-flight.js';
import { within } from '../base/time.js';
import { checksumNow, LayerChecksumHasher } from '../layers/layer-checksum.js';
import { type Ports, portsOf } from '../nbd/ports.js';
import type { ConnectControl } from '../protocol/commands.js';
import {
  type BlockHash,
  PROGRESS_WAIT_MS,
  type ProgressWait,
  type PulledLayer,
  type PullProgress,
  type PullSource,
  type PullTuning,
} from '../protocol/pull.js';
import type { Replica } from '../replica/replica.js';
import { compareLayer } from './compare-layer.js';
import { differingRanges } from './differing-ranges.js';
import type { Lane } from './lanes.js';
import { LayerPull } from './layer-pull.js';
import { PullContext } from './pull-context.js';
import { pullFault } from './pull-faults.js';
import { PullSources } from './pull-sources.js';
import { sendLane } from './send-layer.js';
import { Throttle } from './throttle.js';
import { verifyLane } from './verify-layer.js';
import { WrittenFrontier } from './written-frontier.js';

/**
 * Layers that are brought at once: comparing a large one waits for disks, and sending the small blocks of the next one for the
 * processor. Their windows have one bound together (`pull-context.ts`).
 */
const LAYERS_AT_ONCE = 2;

export type PullSpec = {
  epoch: number;
  rebuildId: string;
  layers: readonly PulledLayer[];
  blockHash: BlockHash;
  tuning: PullTuning;
};

export class PullJob {
  private readonly layers: LayerPull[];
  private readonly throttle: Throttle;
  private readonly totalBytes: number;
  private state: PullProgress['state'] = 'copying';
  /** Those who wait for another state. */
  private readonly waiting = new Set<() => void>();
  private error: PullProgress['error'] = null;
  /** Of all attempts. */
  private steps = 0;
  private cancelled = false;
  private running: Promise<void> | undefined;
  private context: PullContext | undefined;
  /** Sources that take over when the running attempt has ended. */
  private nextSources: readonly PullSource[] | undefined;
  /** Number of the engine's attempt that is running. */
  private attempt = 0;

  constructor(
    private readonly target: Replica,
    private readonly spec: PullSpec,
    private readonly connectControl: ConnectControl,
    private readonly ports: Ports = portsOf(),
  ) {
    this.throttle = new Throttle(spec.tuning, ports.time);
    this.layers = spec.layers.map((plan) => {
      const layer = target.layer(plan.id);
      if (layer === undefined) throw pullFault(`the target has no layer ${plan.name}`);
      const sums = plan.method === 'full' ? target.ranges.start(layer.sizeBytes) : undefined;
      return new LayerPull(plan, layer, sums);
    });
    this.totalBytes = spec.layers.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  }

  get rebuildId(): string {
    return this.spec.rebuildId;
  }

  progress(): PullProgress {
    const snapshots = this.layers.map(({ plan, bytesSent }) => ({
      name: plan.name,
      method: plan.method,
      reason: plan.reason,
      bytesSent,
    }));
    const bytes = { ...this.context?.bytes, total: this.totalBytes };
    const { state, steps, error } = this;
    return { state, bytes: { ...NO_BYTES, ...bytes }, snapshots, steps, error };
  }

  /** Resolves once the pull is in another state, or the time has passed. */
  async leaves({ state, atMostMs }: ProgressWait): Promise<void> {
    if (this.state !== state) return;
    let end: () => void = () => undefined;
    const left = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.waiting.add(end);
    await within(Math.min(atMostMs, PROGRESS_WAIT_MS), left, this.ports.time);
    this.waiting.delete(end);
  }

  tune(tuning: PullTuning): void {
    this.throttle.tune(tuning);
  }

  isLaterThan(attempt: number | undefined): boolean {
    return attempt !== undefined && attempt < this.attempt;
  }

  /**
   * Starts, or continues from other sources. Idempotent: a known attempt is ignored, and so are the same sources
   * while they are being read.
   */
  start(sources: readonly PullSource[], attempt?: number): void {
    if (attempt !== undefined && attempt <= this.attempt) return;
    this.attempt = attempt ?? this.attempt;
    if (this.state === 'verified' || this.cancelled) return;
    if (this.running !== undefined) {
      if (this.context?.sources.sameAs(sources)) return;
      this.nextSources = sources;
      this.context?.sources.hangUp('another source takes over');
      return;
    }
    const { epoch, blockHash } = this.spec;
    const pulled = new PullSources(sources, epoch, this.connectControl, this.ports.connectData);
    const context = new PullContext(epoch, blockHash, pulled, this.throttle, () => this.cancelled);
    this.context = context;
    this.error = null;
    this.enter('copying');
    this.running = this.run(context)
      .then(() => this.enter('verified'))
      .catch((error: unknown) => this.fail(error))
      .finally(() => this.goOn());
  }

  /** Resolves when the job no longer touches the copy's files. */
  async cancel(): Promise<void> {
    this.cancelled = true;
    this.throttle.rouse();
    this.context?.sources.hangUp('the rebuild was cancelled');
    await this.running;
  }

  private goOn(): void {
    this.context?.sources.hangUp('the copying has ended');
    this.running = undefined;
    const next = this.nextSources;
    this.nextSources = undefined;
    if (next !== undefined) this.start(next);
  }

  private async run(context: PullContext): Promise<void> {
    for (const pull of this.layers) this.countDone(context, pull);
    await this.copy(context).catch(context.fail);
    await context.drain();
    for (const pull of this.layers) {
      if (pull.plan.method === 'full') await this.noteChecksum(pull);
      this.step();
    }
    // Including those of which only ranges were compared: the checksums of the others are equal.
    context.bytes.verified = this.totalBytes;
  }

  private async copy(context: PullContext): Promise<void> {
    await inFlight(this.layers, LAYERS_AT_ONCE, async (pull) => {
      await this.bring(context, pull);
      this.step();
    });
    await context.copiesBegun();
    context.requireGoingOn();
    for (const { layer } of this.layers) {
      await context.flush(layer);
      this.step();
    }
    this.enter('verifying');
    context.bytes.compared = this.totalBytes;
  }

  private step(): void {
    this.steps += 1;
  }

  private async bring(context: PullContext, pull: LayerPull): Promise<void> {
    const { plan } = pull;
    if (plan.method === 'fast') {
      context.bytes.skipped += plan.heldBytes;
      context.noteCompared(plan.heldBytes);
      return;
    }
    await context.sources.withLayer(plan.id, async (lanes) => {
      if (plan.method === 'full') return this.send(context, pull, lanes);
      if (plan.method === 'ranges') await this.findDiffering(context, pull, lanes[0]);
      await compareLayer(context, pull, lanes);
    });
  }

  private send(context: PullContext, pull: LayerPull, lanes: readonly Lane[]): Promise<void> {
    const sendVerified = (lane: Lane) => {
      const frontier = new WrittenFrontier();
      context.follow(verifyLane(context, pull, lane, frontier).then(() => this.step()));
      return sendLane(context, pull, lane, frontier);
    };
    return context.together(lanes.map(sendVerified));
  }

  /** Done once: the first write makes the target's own checksums void. */
  private async findDiffering(
    context: PullContext,
    pull: LayerPull,
    source: Lane | undefined,
  ): Promise<void> {
    if (pull.ranges !== null || source === undefined) return;
    pull.ranges = await differingRanges(context, pull, this.target, source);
  }

  /** All its windows were hashed and read back from the disk, so the checksum is known without another pass. */
  private async noteChecksum({ plan, layer, readBack, sums }: LayerPull): Promise<void> {
    const hasher = new LayerChecksumHasher();
    for (const [window, hash] of [...readBack].sort(([a], [b]) => a - b)) hasher.add(window, hash);
    const checksum = checksumNow(layer, hasher.digest(), await layer.changeTime());
    const { epoch } = this.spec;
    await this.target.layers.noteChecksum(plan.id, checksum, sums, { epoch });
  }

  /** After a lost source, unfinished windows are compared again. */
  private countDone(context: PullContext, pull: LayerPull): void {
    const { bytes } = context;
    for (const window of pull.received) {
      const held = pull.heldBytesIn(window);
      bytes.compared += held;
      bytes.sent += held;
      bytes.written += held;
    }
    for (const window of pull.compared) context.noteCompared(pull.heldBytesIn(window));
  }

  private fail(error: unknown): void {
    const fault = isFault(error) ? error : undefined;
    const final = fault !== undefined && fault.code !== 'agent.unreachable';
    this.error = {
      code: this.cancelled ? 'rebuild.cancelled' : (fault?.code ?? 'rebuild.failed'),
      message: error instanceof Error ? error.message : String(error),
      sourceLost: !this.cancelled && !final,
    };
    this.enter('failed');
  }

  private enter(state: PullProgress['state']): void {
    this.state = state;
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }
}
