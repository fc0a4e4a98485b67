/** What is computed for each blob: on the calling thread, or on threads of its own. */
import { idOf, isZero, openBlob, openBlobInto, packed, sealBlob } from '../codec/blobs.js';
import type { BlobKind, Codec } from '../model/format.js';

export type SealTask = {
  readonly runKey: Buffer;
  /** The blob's number in its run. */
  readonly number: number;
  readonly id: Uint8Array;
  readonly kind: BlobKind;
};

export type SealedBlob = { readonly codec: Codec; readonly rawBytes: number; readonly sealed: Buffer };

export type OpenTask = {
  readonly runKey: Buffer;
  readonly idKey: Buffer;
  readonly id: Uint8Array;
  readonly kind: BlobKind;
  readonly codec: Codec;
  readonly rawBytes: number;
};

/** A blob in a range of a pack that was read whole. */
export type BlobInRange = Omit<OpenTask, 'runKey' | 'idKey'> & {
  /** Offset in the range. */
  readonly begin: number;
  readonly storedBytes: number;
};

export type RangeTask = {
  readonly runKey: Buffer;
  readonly idKeys: Record<BlobKind, Buffer>;
  readonly blobs: readonly BlobInRange[];
};

/** Takes the content of the blob of this number in the task. The bytes are its own until it has ended, and are overwritten then. */
export type UseContent = (number: number, content: Buffer) => Promise<void>;

/** Bytes that are handed over may be moved to another thread: the caller gets them back with the answer, in another buffer. */
export interface BlockCoder {
  /** `id` is `undefined` for a block of zeros. */
  identify(idKey: Buffer, bytes: Buffer): Promise<{ id: Buffer | undefined; bytes: Buffer }>;
  seal(task: SealTask, bytes: Buffer): Promise<SealedBlob & { bytes: Buffer }>;
  /** @throws StorageFault `backup.damaged` */
  open(task: OpenTask, sealed: Buffer): Promise<Buffer>;
  /**
   * Opens all blobs of a range, and hands each to `use`, in order.
   *
   * @returns the memory of the range, for the next one
   * @throws StorageFault `backup.damaged`, before any is used
   */
  openRange(task: RangeTask, range: Buffer, use: UseContent): Promise<Buffer>;
  /** Tasks that are worth giving at once. */
  readonly parallel: number;
  close(): Promise<void>;
}

export const identified = (idKey: Buffer, bytes: Buffer): Buffer | undefined =>
  isZero(bytes) ? undefined : idOf(idKey, bytes);

export function sealed({ runKey, number, id, kind }: SealTask, bytes: Buffer): SealedBlob {
  const content = packed(bytes);
  const facts = { id, kind, codec: content.codec, rawBytes: bytes.length };
  return {
    codec: content.codec,
    rawBytes: bytes.length,
    sealed: sealBlob(runKey, number, facts, content.bytes),
  };
}

export const opened = ({ runKey, idKey, ...facts }: OpenTask, bytes: Buffer): Buffer =>
  openBlob(runKey, idKey, facts, bytes);

export const contentBytesOf = ({ blobs }: RangeTask): number =>
  blobs.reduce((sum, { rawBytes }) => sum + rawBytes, 0);

/** Writes the blobs' contents one behind the other. */
export function openRangeInto(target: Buffer, { runKey, idKeys, blobs }: RangeTask, range: Buffer): void {
  let at = 0;
  for (const { begin, storedBytes, ...facts } of blobs) {
    const content = target.subarray(at, at + facts.rawBytes);
    openBlobInto(content, runKey, idKeys[facts.kind], facts, range.subarray(begin, begin + storedBytes));
    at += facts.rawBytes;
  }
}

export async function useContents({ blobs }: RangeTask, contents: Buffer, use: UseContent): Promise<void> {
  let at = 0;
  for (const [number, { rawBytes }] of blobs.entries()) {
    await use(number, contents.subarray(at, at + rawBytes));
    at += rawBytes;
  }
}

/** On the calling thread: for small work, and for tests. */
export class InlineCoder implements BlockCoder {
  readonly parallel = 2;

  async identify(idKey: Buffer, bytes: Buffer): Promise<{ id: Buffer | undefined; bytes: Buffer }> {
    return { id: identified(idKey, bytes), bytes };
  }

  async seal(task: SealTask, bytes: Buffer): Promise<SealedBlob & { bytes: Buffer }> {
    return { ...sealed(task, bytes), bytes };
  }

  async open(task: OpenTask, bytes: Buffer): Promise<Buffer> {
    return opened(task, bytes);
  }

  async openRange(task: RangeTask, range: Buffer, use: UseContent): Promise<Buffer> {
    const contents = Buffer.allocUnsafeSlow(contentBytesOf(task));
    openRangeInto(contents, task, range);
    await useContents(task, contents, use);
    return range;
  }

  async close(): Promise<void> {}
}
