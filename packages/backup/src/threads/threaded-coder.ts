/** Hashing, compression and encryption on threads: one for each core at most, each with a bounded number of tasks. */
import os from 'node:os';
import { Worker } from 'node:worker_threads';
import { damaged } from '../codec/damage.js';
import {
  type BlockCoder,
  contentBytesOf,
  type OpenTask,
  type RangeTask,
  type SealedBlob,
  type SealTask,
  type UseContent,
  useContents,
} from './block-coder.js';
import type { ThreadAnswer, ThreadTask } from './block-thread.js';

/** More than this gain little: the target is slower. */
const THREADS_MAX = 4;
/** Tasks of one thread that wait, so that it never has none to do; the block of each is in memory. */
const TASKS_OF_THREAD = 3;
/** Memory for contents that is kept for the next range: as many ranges are read at once. */
const SPARE_MAX = 4;
/** Smallest that is allocated, so that memory which one range has left fits most others. */
const TARGET_BYTES_MIN = 16 * 1024 * 1024;
/** Tests run the sources. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

type Waiting = { resolve(answer: ThreadAnswer): void; reject(error: Error): void };

class Thread {
  readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private readonly worker = new Worker(new URL(`./block-thread.${EXTENSION}`, import.meta.url));

  constructor() {
    this.worker.on('message', ({ id, answer }: { id: number; answer: ThreadAnswer }) => {
      const waiting = this.waiting.get(id);
      this.waiting.delete(id);
      if (this.waiting.size === 0) this.worker.unref();
      waiting?.resolve(answer);
    });
    this.worker.on('error', (error) => this.end(error));
    this.worker.on('exit', () => this.end(new Error('a thread of the backup has ended')));
    // An idle thread keeps no process from ending.
    this.worker.unref();
  }

  ask(task: ThreadTask, moved: ArrayBuffer[]): Promise<ThreadAnswer> {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { resolve, reject });
      this.worker.ref();
      this.worker.postMessage({ id, task }, moved);
    });
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  private end(error: Error): void {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}

export class ThreadedCoder implements BlockCoder {
  readonly parallel: number;
  private readonly threads: Thread[];
  private readonly spare: Uint8Array<ArrayBuffer>[] = [];

  constructor(threads = Math.min(THREADS_MAX, os.availableParallelism())) {
    this.threads = Array.from({ length: threads }, () => new Thread());
    this.parallel = threads * TASKS_OF_THREAD;
  }

  async identify(idKey: Buffer, bytes: Buffer): Promise<{ id: Buffer | undefined; bytes: Buffer }> {
    const answer = await this.ask({ kind: 'identify', idKey, bytes: own(bytes) });
    if (answer.kind !== 'identify') throw failure(answer);
    return { id: answer.id === undefined ? undefined : asBuffer(answer.id), bytes: asBuffer(answer.bytes) };
  }

  async seal(task: SealTask, bytes: Buffer): Promise<SealedBlob & { bytes: Buffer }> {
    const answer = await this.ask({ kind: 'seal', task, bytes: own(bytes) });
    if (answer.kind !== 'seal') throw failure(answer);
    const { codec, rawBytes, sealed } = answer;
    return { codec, rawBytes, sealed: asBuffer(sealed), bytes: asBuffer(answer.bytes) };
  }

  async open(task: OpenTask, sealed: Buffer): Promise<Buffer> {
    const answer = await this.ask({ kind: 'open', task, bytes: own(sealed) });
    if (answer.kind === 'failed') throw damage(answer.message);
    if (answer.kind !== 'open') throw failure(answer);
    return asBuffer(answer.bytes);
  }

  async openRange(task: RangeTask, range: Buffer, use: UseContent): Promise<Buffer> {
    const target = this.targetOf(contentBytesOf(task));
    const asked = { kind: 'open-range', task, bytes: wholeOf(range), target } as const;
    const answer = await this.ask(asked, [target.buffer]);
    if (answer.kind === 'failed') throw damage(answer.message);
    if (answer.kind !== 'open-range') throw failure(answer);
    try {
      await useContents(task, asBuffer(answer.target), use);
      return Buffer.from(answer.bytes.buffer);
    } finally {
      if (this.spare.length < SPARE_MAX) this.spare.push(answer.target);
    }
  }

  private targetOf(lengthBytes: number): Uint8Array<ArrayBuffer> {
    const found = this.spare.findIndex((one) => one.length >= lengthBytes);
    const [reused] = found === -1 ? [] : this.spare.splice(found, 1);
    // A buffer that is too short is replaced by a longer one.
    if (reused === undefined) this.spare.shift();
    return reused ?? new Uint8Array(Math.max(lengthBytes, TARGET_BYTES_MIN));
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.close()));
  }

  private ask(
    task: ThreadTask & { bytes: Uint8Array<ArrayBuffer> },
    moved: readonly ArrayBuffer[] = [],
  ): Promise<ThreadAnswer> {
    const [first, ...others] = this.threads;
    if (first === undefined) throw new Error('there are no threads');
    const idlest = others.reduce((best, one) => (one.waiting.size < best.waiting.size ? one : best), first);
    return idlest.ask(task, [task.bytes.buffer, ...moved]);
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** Memory that holds these bytes alone, since the whole of it is moved. */
function own(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const isOwn = bytes.byteOffset === 0 && bytes.length === bytes.buffer.byteLength;
  // The cast: buffers of this process are not shared with threads.
  return (isOwn ? bytes : Uint8Array.prototype.slice.call(bytes)) as Uint8Array<ArrayBuffer>;
}

/** No memory that buffers share is so large. */
const SHARED_BYTES_MAX = 64 * 1024;

/** The range in its memory, which may be longer than it: a reader uses the same one for many ranges. */
function wholeOf(range: Buffer): Uint8Array<ArrayBuffer> {
  const isMoved = range.byteOffset === 0 && range.buffer.byteLength > SHARED_BYTES_MAX;
  // The cast: as above.
  return isMoved ? new Uint8Array(range.buffer as ArrayBuffer, 0, range.length) : own(range);
}

const damage = (message: string): Error => damaged(message.replace(/^the repository is damaged: /, ''));

function failure(answer: ThreadAnswer): Error {
  return new Error(
    answer.kind === 'failed' ? answer.message : 'a thread gave the answer to another question',
  );
}
