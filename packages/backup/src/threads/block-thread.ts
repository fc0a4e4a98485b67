/** A thread that computes for blobs: see `block-coder.ts`. */
import { parentPort } from 'node:worker_threads';
import {
  identified,
  type OpenTask,
  opened,
  openRangeInto,
  type RangeTask,
  type SealTask,
  sealed,
} from './block-coder.js';

/** Buffers come as plain arrays of bytes, and are moved, not copied. */
export type ThreadTask =
  | { readonly kind: 'identify'; readonly idKey: Uint8Array; readonly bytes: Uint8Array }
  | { readonly kind: 'seal'; readonly task: SealTask; readonly bytes: Uint8Array }
  | { readonly kind: 'open'; readonly task: OpenTask; readonly bytes: Uint8Array }
  | {
      readonly kind: 'open-range';
      readonly task: RangeTask;
      readonly bytes: Uint8Array;
      /** Memory for the contents, which comes back with them. */
      readonly target: Uint8Array<ArrayBuffer>;
    };

export type ThreadAnswer =
  | { readonly kind: 'identify'; readonly id: Uint8Array | undefined; readonly bytes: Uint8Array }
  | {
      readonly kind: 'seal';
      readonly codec: 0 | 1;
      readonly rawBytes: number;
      readonly sealed: Uint8Array;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'open'; readonly bytes: Uint8Array }
  | { readonly kind: 'open-range'; readonly bytes: Uint8Array; readonly target: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'failed'; readonly message: string };

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** Bytes in memory of their own, which can be moved. */
function movable(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const isOwn = bytes.byteOffset === 0 && bytes.length === bytes.buffer.byteLength;
  // The cast follows the check of who owns the memory: no buffer here is shared between threads.
  return (isOwn ? bytes : Uint8Array.prototype.slice.call(bytes)) as Uint8Array<ArrayBuffer>;
}

function answerTo(given: ThreadTask): { answer: ThreadAnswer; moved: ArrayBuffer[] } {
  const bytes = asBuffer(given.bytes);
  if (given.kind === 'identify') {
    const id = identified(asBuffer(given.idKey), bytes);
    const back = movable(bytes);
    return { answer: { kind: 'identify', id, bytes: back }, moved: [back.buffer] };
  }
  if (given.kind === 'open-range') {
    const { runKey, idKeys, blobs } = given.task;
    const keys = { runKey: asBuffer(runKey), idKeys: { 0: asBuffer(idKeys[0]), 1: asBuffer(idKeys[1]) } };
    const { target } = given;
    openRangeInto(asBuffer(target), { ...keys, blobs }, bytes);
    // The cast: it was moved here, and goes back whole.
    const memory = bytes.buffer as ArrayBuffer;
    return { answer: { kind: 'open-range', bytes: given.bytes, target }, moved: [memory, target.buffer] };
  }
  const { task } = given;
  if (given.kind === 'seal') {
    const done = sealed({ ...given.task, runKey: asBuffer(task.runKey) }, bytes);
    const back = movable(bytes);
    const content = movable(done.sealed);
    return {
      answer: { kind: 'seal', codec: done.codec, rawBytes: done.rawBytes, sealed: content, bytes: back },
      moved: [back.buffer, content.buffer],
    };
  }
  const keys = { runKey: asBuffer(task.runKey), idKey: asBuffer(given.task.idKey) };
  const content = movable(opened({ ...given.task, ...keys }, bytes));
  return { answer: { kind: 'open', bytes: content }, moved: [content.buffer] };
}

parentPort?.on('message', ({ id, task }: { id: number; task: ThreadTask }) => {
  try {
    const { answer, moved } = answerTo(task);
    parentPort?.postMessage({ id, answer }, moved);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    parentPort?.postMessage({ id, answer: { kind: 'failed', message } });
  }
});
