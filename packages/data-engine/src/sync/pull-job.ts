/**
 * The target's side of a rebuild: copies all frozen layers from a source in one pipelined stream, then proves by
 * content that its own files hold what the source's do.
 *
 * It works on frozen layers only; user writes go to the head meanwhile. It keeps what it has copied when a source is
 * lost, and goes on from another one. A crash forgets the job; the copy is then still no member and starts over.
 */
import { MIB } from '@holdfast/core/model/bytes.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { NO_BYTES, type RebuildBytes } from '@holdfast/core/model/rebuild.js';
import { hashRuns, hashWindow, heldBytesInWindow, nextHeldWindow } from '../integrity/window-hash.js';
import { NbdClient } from '../nbd/client.js';
import type {
  ConnectControl,
  PulledLayer,
  PullProgress,
  PullSource,
  ReplicaControl,
  WindowHashes,
} from '../replica/commands.js';
import { formatExportName } from '../replica/export-names.js';
import type { Layer } from '../replica/layer.js';
import type { Replica } from '../replica/replica.js';
import { systemCode } from '../replica/system-error.js';
import { heldWindows, readWindow, type WindowPlan } from './pull-windows.js';

/** Windows on their way at once: 24 MiB, enough to keep source, network and disk busy together. */
const WINDOWS_IN_FLIGHT = 6;
/** After so much the disk is told to write, while more comes in. */
const FLUSH_BEHIND_BYTES = 64 * MIB;
const CONNECT_TIMEOUT_MS = 10_000;

/** One layer on the target, with the hashes of what arrived, by window: also what is done already. */
type PulledState = { plan: PulledLayer; layer: Layer; received: Map<number, string>; bytesSent: number };

export class PullJob {
  private readonly layers: PulledState[];
  private readonly bytes: RebuildBytes = { ...NO_BYTES };
  private state: PullProgress['state'] = 'copying';
  private error: PullProgress['error'] = null;
  private readonly clients = new Set<NbdClient>();
  private cancelled = false;
  private unflushedBytes = 0;
  private flushing: Promise<void> | undefined;
  private flushError: StorageFault | undefined;
  private running: Promise<void> | undefined;
  private source: PullSource | undefined;
  /** Takes over when what runs now has ended. */
  private nextSource: PullSource | undefined;

  constructor(
    target: Replica,
    private readonly epoch: number,
    readonly rebuildId: string,
    plans: readonly PulledLayer[],
    private readonly connectControl: ConnectControl,
  ) {
    this.layers = plans.map((plan) => {
      const layer = target.layer(plan.id);
      if (layer === undefined) throw pullFault(`the target has no layer ${plan.name}`);
      return { plan, layer, received: new Map(), bytesSent: 0 };
    });
    this.bytes.total = plans.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  }

  progress(): PullProgress {
    const snapshots = this.layers.map(({ plan, bytesSent }) => ({
      name: plan.name,
      method: plan.method,
      reason: plan.reason,
      bytesSent,
    }));
    return { state: this.state, bytes: { ...this.bytes }, snapshots, error: this.error };
  }

  /** Starts, or goes on from another source. The same source again changes nothing while it is being read. */
  start(source: PullSource): void {
    if (this.state === 'verified' || this.cancelled) return;
    if (this.running !== undefined) {
      if (source.replicaId === this.source?.replicaId) return;
      this.nextSource = source;
      this.hangUp('another source takes over');
      return;
    }
    this.source = source;
    this.error = null;
    this.state = 'copying';
    this.running = this.run(source)
      .then(() => {
        this.state = 'verified';
      })
      .catch((error: unknown) => this.fail(error))
      .finally(() => this.goOn());
  }

  /** Resolves when nothing of it touches the copy's files any more. */
  async cancel(): Promise<void> {
    this.cancelled = true;
    this.hangUp('the rebuild was cancelled');
    await this.running;
  }

  private goOn(): void {
    this.hangUp('the copying has ended');
    this.running = undefined;
    const next = this.nextSource;
    this.nextSource = undefined;
    if (next !== undefined) this.start(next);
  }

  private hangUp(reason: string): void {
    for (const client of this.clients) client.destroy(pullFault(reason));
  }

  private async run(source: PullSource): Promise<void> {
    for (const state of this.layers) this.countReceived(state);
    await this.copyLayers(source);
    await this.flushLayers();
    this.state = 'verifying';
    this.bytes.compared = this.bytes.total;
    const control = this.connectControl(source);
    for (const state of this.layers) await this.verifyLayer(control, state);
  }

  /** One stream over all layers: the next layer's first windows start while this one's last are on their way. */
  private async copyLayers(source: PullSource): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    const failures: unknown[] = [];
    try {
      for (const state of this.layers) {
        const client = await this.connect(source, state.plan.id);
        for await (const window of heldWindows(client)) {
          if (state.received.has(window.window)) continue;
          const work: Promise<void> = this.copyWindow(client, state, window)
            .catch((error: unknown) => void failures.push(error))
            .finally(() => inFlight.delete(work));
          inFlight.add(work);
          if (inFlight.size >= WINDOWS_IN_FLIGHT) await Promise.race(inFlight);
          if (failures.length > 0) throw failures[0];
        }
      }
    } finally {
      if (failures.length > 0) this.hangUp('the copying has failed');
      await Promise.all(inFlight);
      await this.flushing;
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Lets the disk work while data still comes in, instead of leaving it all to the end. */
  private flushBehind(layer: Layer, lengthBytes: number): void {
    this.unflushedBytes += lengthBytes;
    if (this.unflushedBytes < FLUSH_BEHIND_BYTES || this.flushing !== undefined) return;
    this.unflushedBytes = 0;
    this.flushing = layer
      .flush()
      .catch((error: unknown) => {
        this.flushError = diskFault(error);
      })
      .finally(() => {
        this.flushing = undefined;
      });
  }

  /** A layer takes one flush at a time, so one that runs behind is waited for. */
  private async flushLayers(): Promise<void> {
    await this.flushing;
    if (this.flushError !== undefined) throw this.flushError;
    for (const { layer } of this.layers) await layer.flush();
  }

  /** After a lost source, windows that were not finished are copied again. */
  private countReceived(state: PulledState): void {
    state.bytesSent = 0;
    for (const window of state.received.keys()) state.bytesSent += heldBytesInWindow(state.layer, window);
  }

  private async copyWindow(client: NbdClient, state: PulledState, plan: WindowPlan): Promise<void> {
    const runs = await readWindow(client, plan);
    const received = hashRuns(runs);
    let lengthBytes = 0;
    for (const run of runs) {
      this.requireGoingOn();
      await state.layer.write(run.payload, run.offset, run.lengthBytes).catch((error: unknown) => {
        throw diskFault(error);
      });
      lengthBytes += run.lengthBytes;
    }
    this.flushBehind(state.layer, lengthBytes);
    state.received.set(plan.window, received);
    state.bytesSent += lengthBytes;
    this.bytes.sent += lengthBytes;
    this.bytes.written += lengthBytes;
    // Looked at once while copying and once while verifying, one after the other.
    this.bytes.compared += lengthBytes;
  }

  /**
   * Both sides hash what their files hold now; the target's must also be what it had received. The source hashes its
   * next windows while the target hashes these.
   */
  private async verifyLayer(control: ReplicaControl, state: PulledState): Promise<void> {
    const ask = (firstWindow: number) => {
      const asked = control.command('hashes', { epoch: this.epoch, layerId: state.plan.id, firstWindow });
      // Awaited one step later; until then its failure is not an unhandled one.
      asked.catch(() => undefined);
      return asked;
    };
    let ownNext = nextHeldWindow(state.layer, 0);
    for (let asked: Promise<WindowHashes> | undefined = ask(0); asked !== undefined; ) {
      this.requireGoingOn();
      const { hashes, next }: WindowHashes = await asked;
      asked = next === null ? undefined : ask(next);
      ownNext = await this.verifyWindows(state, hashes, ownNext);
    }
    if (ownNext !== undefined) throw differs(state.plan, ownNext, 'the target holds more');
  }

  /** Returns the next window after these that the target holds anything in. */
  private async verifyWindows(
    { plan, layer, received }: PulledState,
    hashes: WindowHashes['hashes'],
    ownNext: number | undefined,
  ): Promise<number | undefined> {
    let own = ownNext;
    for (const [window, expected] of hashes) {
      if (own !== window || received.get(window) !== expected) throw differs(plan, window, 'what was sent');
      if ((await hashWindow(layer, window)) !== expected) throw differs(plan, window, 'what is on the disk');
      this.bytes.compared += heldBytesInWindow(layer, window);
      own = nextHeldWindow(layer, window + 1);
    }
    return own;
  }

  private async connect(source: PullSource, layerId: string): Promise<NbdClient> {
    this.requireGoingOn();
    const exportName = formatExportName({ kind: 'layer', layerId, epoch: this.epoch, ...source });
    const address = { host: source.nbdHost, port: source.nbdPort, exportName };
    const client = await NbdClient.connect(address, CONNECT_TIMEOUT_MS);
    this.clients.add(client);
    client.onClose(() => this.clients.delete(client));
    return client;
  }

  private requireGoingOn(): void {
    if (!this.cancelled) return;
    throw new StorageFault('rebuild.cancelled', { publicMessage: 'the rebuild was cancelled' });
  }

  private fail(error: unknown): void {
    const fault = isFault(error) ? error : undefined;
    const final = fault !== undefined && fault.code !== 'agent.unreachable';
    this.error = {
      code: this.cancelled ? 'rebuild.cancelled' : (fault?.code ?? 'rebuild.failed'),
      message: error instanceof Error ? error.message : String(error),
      sourceLost: !this.cancelled && !final,
    };
    this.state = 'failed';
  }
}

function differs(plan: PulledLayer, window: number, what: string): StorageFault {
  return new StorageFault('rebuild.contents_differ', {
    publicMessage: `layer ${plan.name} differs from the source's: ${what}`,
    context: { layerId: plan.id, window },
  });
}

/** Our own disk failed: no other source would help. */
function diskFault(error: unknown): StorageFault {
  const code = systemCode(error);
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new StorageFault(full ? 'disk.no_space' : 'rebuild.failed', {
    publicMessage: full
      ? 'the disk of the target is full'
      : `the disk of the target failed: ${code ?? error}`,
    cause: error,
  });
}

function pullFault(message: string): StorageFault {
  return new StorageFault('rebuild.failed', { publicMessage: message });
}
