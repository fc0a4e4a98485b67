import crypto from 'node:crypto';
import { NbdClient } from '@holdfast/data-engine/nbd/client.js';

const CONNECT_TIMEOUT_MS = 120_000;
const CHUNK_BYTES = 64 * 1024;

/** Connects to `nbd://host:port/export-name`. */
export function connectNbd(nbdUri: string, timeoutMs = CONNECT_TIMEOUT_MS): Promise<NbdClient> {
  const uri = new URL(nbdUri);
  const address = {
    host: uri.hostname,
    port: Number(uri.port || 10809),
    exportName: decodeURIComponent(uri.pathname.slice(1)),
  };
  return NbdClient.connect(address, timeoutMs);
}

/** Bytes of this seed only: the content of a chunk after a given write. */
export function pattern(seed: number, lengthBytes: number): Buffer {
  const key = crypto.createHash('sha256').update(`holdfast ${seed}`).digest();
  return crypto.createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(lengthBytes));
}

type Chunk = {
  /** Seed of the last write that was acknowledged and covered by an acknowledged flush; 0 is never written. */
  flushed: number;
  /** Seeds of writes sent since, acknowledged or not: after a crash any of them may be there. */
  since: number[];
};

/**
 * Writes and reads random chunks until it is stopped, and remembers their content. One write at a time per chunk, so that the order
 * of writes to it is known.
 */
export class NbdWorkload {
  private readonly chunks = new Map<number, Chunk>();
  private readonly busy = new Set<number>();
  private nextSeed = 1;
  private stopping = false;
  private running: Promise<void>[] = [];
  errors: Error[] = [];
  operations = 0;

  constructor(
    private readonly client: NbdClient,
    private readonly chunkCount: number,
  ) {}

  /** Begins with so many loops at once. */
  start(loops: number): void {
    this.stopping = false;
    this.running = Array.from({ length: loops }, (_, loop) => this.loop(loop));
  }

  /** Waits for requests in flight. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.running);
  }

  /** After this everything acknowledged so far must survive anything. */
  async flush(): Promise<void> {
    const before = new Map([...this.chunks].map(([index, chunk]) => [index, chunk.since.at(-1)]));
    const idle = new Set([...before.keys()].filter((index) => !this.busy.has(index)));
    await this.client.flush();
    for (const index of idle) this.markFlushed(index, before.get(index));
  }

  /** Reads every chunk that was ever written and says which hold something they must not. */
  async wrongChunks(client: NbdClient): Promise<number[]> {
    const wrong: number[] = [];
    for (const [index, chunk] of this.chunks) {
      const bytes = Buffer.concat(await client.read(index * CHUNK_BYTES, CHUNK_BYTES));
      const allowed = [chunk.flushed, ...chunk.since];
      if (!allowed.some((seed) => bytes.equals(contentOf(seed)))) wrong.push(index);
    }
    return wrong;
  }

  private async loop(loop: number): Promise<void> {
    while (!this.stopping) {
      try {
        await this.step();
      } catch (error) {
        this.errors.push(error instanceof Error ? error : new Error(`loop ${loop}: ${String(error)}`));
        return;
      }
    }
  }

  private async step(): Promise<void> {
    const index = Math.floor(Math.random() * this.chunkCount);
    if (this.busy.has(index)) {
      await new Promise((resolve) => setImmediate(resolve));
      return;
    }
    this.busy.add(index);
    const chunk = this.chunks.get(index) ?? { flushed: 0, since: [] };
    const seed = this.nextSeed++;
    chunk.since.push(seed);
    this.chunks.set(index, chunk);
    await this.client.write(index * CHUNK_BYTES, [contentOf(seed)], CHUNK_BYTES, { fua: false });
    const bytes = Buffer.concat(await this.client.read(index * CHUNK_BYTES, CHUNK_BYTES));
    if (!bytes.equals(contentOf(seed)))
      throw new Error(`chunk ${index} does not hold what was just acknowledged`);
    this.busy.delete(index);
    this.operations += 2;
  }

  private markFlushed(index: number, seed: number | undefined): void {
    const chunk = this.chunks.get(index);
    if (chunk === undefined || seed === undefined) return;
    chunk.flushed = seed;
    chunk.since = chunk.since.slice(chunk.since.indexOf(seed) + 1);
  }
}

function contentOf(seed: number): Buffer {
  return seed === 0 ? Buffer.alloc(CHUNK_BYTES) : pattern(seed, CHUNK_BYTES);
}
