/**
 * A user of a volume that goes on through everything: what is not acknowledged is sent again over a new connection, as a kernel's
 * NBD client with a reconnect does. What was acknowledged has to be there in the end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connectNbd, pattern } from '@holdfast/testkit/nbd-workload.js';

const CHUNK_BYTES = 64 * 1024;
const CHUNKS = 512;
const PAUSE_MS = 50;
/** A write that is not acknowledged for so long ends the test: no user would wait longer. */
const UNANSWERED_MS_MAX = 120_000;

type Client = Awaited<ReturnType<typeof connectNbd>>;

export class SteadyWriter {
  /** Number of the write that each chunk holds. */
  private readonly acknowledged = new Map<number, number>();
  private client: Client | undefined;
  private isStopped = false;
  private running: Promise<void> = Promise.resolve();
  /** The longest that a write has waited for its acknowledgement, in milliseconds. */
  longestMs = 0;
  writes = 0;

  /** @param address where the volume is served at this moment */
  constructor(private readonly address: () => Promise<string>) {}

  start(): void {
    this.running = this.run();
    // It is awaited when the writer is stopped.
    this.running.catch(() => undefined);
  }

  /** @throws Error when a write was not acknowledged in time */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
    this.client?.close();
  }

  /** Chunks that do not hold what was acknowledged last. */
  async wrongChunks(): Promise<number[]> {
    const client = await connectNbd(await this.address());
    const wrong: number[] = [];
    for (const [chunk, write] of this.acknowledged) {
      const bytes = Buffer.concat(await client.read(chunk * CHUNK_BYTES, CHUNK_BYTES));
      if (!bytes.equals(pattern(write, CHUNK_BYTES))) wrong.push(chunk);
    }
    client.close();
    return wrong;
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      const write = this.writes + 1;
      const startedMs = performance.now();
      await this.untilAcknowledged(write, startedMs);
      this.longestMs = Math.max(this.longestMs, Math.round(performance.now() - startedMs));
      this.acknowledged.set(write % CHUNKS, write);
      this.writes = write;
      await sleep(PAUSE_MS);
    }
  }

  private async untilAcknowledged(write: number, startedMs: number): Promise<void> {
    for (;;) {
      try {
        this.client ??= await connectNbd(await this.address());
        const at = (write % CHUNKS) * CHUNK_BYTES;
        await this.client.write(at, [pattern(write, CHUNK_BYTES)], CHUNK_BYTES, { fua: true });
        return;
      } catch (error) {
        if (performance.now() - startedMs > UNANSWERED_MS_MAX) throw error;
        this.client?.close();
        this.client = undefined;
        await sleep(PAUSE_MS * 4);
      }
    }
  }
}
