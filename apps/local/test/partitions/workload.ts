/**
 * A user of one volume: writes numbered blocks with flushes and reads them, connects again when its connection ends,
 * and has another node take the volume over when that does not help. It records all it sees, in order.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connectNbd } from '@holdfast/testkit/nbd-workload.js';
import type { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import type { PartitionCluster } from './cluster.js';
import type { HistoryEvent } from './history.js';

const BLOCK_BYTES = 4096;
const BLOCKS = 256;
const LOOPS = 4;
/**
 * Time after which a request counts as stuck and the user takes the volume over, even if the engine would go on soon.
 */
const STUCK_MS = 6_000;
const TAKEOVER_MS_MAX = 12_000;
const CONNECT_TRIES = 3;
const CONNECT_MS_MAX = 2_000;
const API_MS_MAX = 15_000;

type NbdClient = Awaited<ReturnType<typeof connectNbd>>;

type Volume = {
  state: string;
  attachedNodeId: string | null;
  robustness: string;
  endpoint: { nbdUri: string } | null;
  attention: { code: string; message: string } | null;
};

export class PartitionWorkload {
  readonly history: HistoryEvent[] = [];
  /** Durations from a forced detach to the first acknowledged write after it. */
  readonly takeoversMs: number[] = [];
  writes = 0;
  reads = 0;
  flushes = 0;
  readonly torn: string[] = [];
  private client: NbdClient | undefined;
  private uri = '';
  private stopping = false;
  private lastAnswerAtMs = performance.now();
  private takeoverSinceMs: number | undefined;
  private nextValue = 1;
  private nextFlush = 1;
  private running: Promise<void>[] = [];

  constructor(
    private readonly cluster: PartitionCluster,
    readonly volumeId: string,
    private readonly random: SeededRandom,
    /** Chooses the node that the user asks to serve the volume. */
    private readonly chooseNode: () => number,
  ) {}

  start(): void {
    this.running = [this.stayConnected(), ...Array.from({ length: LOOPS }, (_, loop) => this.loop(loop))];
  }

  /** Waits for the operations under way, and closes the connection. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.running);
    this.client?.close();
    this.client = undefined;
  }

  /** Reads every block once more. */
  async readAll(): Promise<void> {
    this.stopping = false;
    await this.reconnect();
    const client = this.client;
    if (client === undefined) throw new Error('the volume can not be connected to any more');
    for (let block = 0; block < BLOCKS; block += 1) await this.read(client, block);
    client.close();
  }

  async volume(): Promise<Volume | undefined> {
    return (await this.call<Volume>('GET', ''))?.body;
  }

  private async stayConnected(): Promise<void> {
    while (!this.stopping) {
      const isStuck = performance.now() - this.lastAnswerAtMs > STUCK_MS;
      if (this.client === undefined || isStuck) await this.reconnect(isStuck);
      await sleep(50);
    }
  }

  /** Connects to the running engine; where that does not work, to a new one on another node. */
  private async reconnect(isStuck = false): Promise<void> {
    this.client?.close();
    this.client = undefined;
    let tries = isStuck ? CONNECT_TRIES : 0;
    while (this.client === undefined && !(this.stopping && tries > CONNECT_TRIES)) {
      if (tries >= CONNECT_TRIES) await this.takeOver();
      tries += 1;
      const uri = (await this.volume())?.endpoint?.nbdUri;
      if (uri === undefined) await sleep(300);
      else await this.connect(uri);
    }
  }

  private async connect(uri: string): Promise<void> {
    const client = await connectNbd(uri, CONNECT_MS_MAX).catch(() => undefined);
    if (client === undefined) {
      await sleep(200);
      return;
    }
    // A different address means a new attachment: each has a secret of its own in its address.
    if (uri !== this.uri) this.history.push({ kind: 'attached' });
    this.uri = uri;
    this.lastAnswerAtMs = performance.now();
    this.client = client;
  }

  private async takeOver(): Promise<void> {
    this.takeoverSinceMs ??= performance.now();
    const nodeId = await this.cluster.nodeId(this.chooseNode()).catch(() => undefined);
    if (nodeId === undefined) return;
    await this.call('POST', '/detach', { force: true });
    const deadline = performance.now() + TAKEOVER_MS_MAX;
    while (performance.now() < deadline) {
      const volume = await this.volume();
      if (volume?.state === 'attached') return;
      if (volume?.state === 'detached') await this.call('POST', '/attach', { nodeId });
      await sleep(100);
    }
  }

  private async loop(loop: number): Promise<void> {
    while (!this.stopping) {
      const client = this.client;
      if (client === undefined) {
        await sleep(20);
        continue;
      }
      // Each loop has blocks of its own, so that there is one operation on a block at a time.
      const block = LOOPS * this.random.below(BLOCKS / LOOPS) + loop;
      const dice = this.random.below(10);
      try {
        if (dice === 0) await this.flush(client);
        else if (dice < 7) await this.write(client, block);
        else await this.read(client, block);
        this.lastAnswerAtMs = performance.now();
      } catch {
        // An error answered over a living connection is recorded too: the volume may be out of copies or of room.
        if (this.client === client) {
          client.close();
          this.client = undefined;
        }
        await sleep(20);
      }
    }
  }

  private async write(client: NbdClient, block: number): Promise<void> {
    const value = this.nextValue;
    this.nextValue += 1;
    this.history.push({ kind: 'write-begun', block, value });
    try {
      await client.write(block * BLOCK_BYTES, [contentOf(value)], BLOCK_BYTES, { fua: false });
    } catch (error) {
      this.history.push({ kind: 'write-unknown', block, value });
      throw error;
    }
    this.history.push({ kind: 'write-done', block, value });
    this.writes += 1;
    if (this.takeoverSinceMs === undefined) return;
    this.takeoversMs.push(performance.now() - this.takeoverSinceMs);
    this.takeoverSinceMs = undefined;
  }

  private async read(client: NbdClient, block: number): Promise<void> {
    const bytes = Buffer.concat(await client.read(block * BLOCK_BYTES, BLOCK_BYTES));
    const value = Number(bytes.readBigUInt64LE(0));
    if (!bytes.equals(contentOf(value))) this.torn.push(`block ${block} holds parts of several writes`);
    this.history.push({ kind: 'read', block, value });
    this.reads += 1;
  }

  private async flush(client: NbdClient): Promise<void> {
    const id = this.nextFlush;
    this.nextFlush += 1;
    this.history.push({ kind: 'flush-begun', id });
    await client.flush();
    this.history.push({ kind: 'flush-done', id });
    this.flushes += 1;
  }

  /** `undefined` where the API does not answer, or refuses: the caller tries again. */
  private async call<T>(method: string, path: string, body?: unknown): Promise<{ body: T } | undefined> {
    const answer = this.cluster.stack.call<T>(method, `/volumes/${this.volumeId}${path}`, body);
    const given = answer.catch(() => undefined);
    const found = await Promise.race([given, sleep(API_MS_MAX, undefined, { ref: false })]);
    return found !== undefined && found.status < 300 ? found : undefined;
  }
}

/** Content of a block: the number of its write, repeated, so that a torn block shows two numbers. */
function contentOf(value: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let at = 0; at < BLOCK_BYTES; at += 8) block.writeBigUInt64LE(BigInt(value), at);
  return block;
}
