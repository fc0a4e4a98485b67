/** What is computed for each blob: on the calling thread, or on threads of its own. */
import { idOf, isZero, openBlob, packed, sealBlob } from '../codec/blobs.js';
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

/** Bytes that are handed over may be moved to another thread: the caller gets them back with the answer, in another buffer. */
export interface BlockCoder {
  /** `id` is `undefined` for a block of zeros. */
  identify(idKey: Buffer, bytes: Buffer): Promise<{ id: Buffer | undefined; bytes: Buffer }>;
  seal(task: SealTask, bytes: Buffer): Promise<SealedBlob & { bytes: Buffer }>;
  /** @throws StorageFault `backup.damaged` */
  open(task: OpenTask, sealed: Buffer): Promise<Buffer>;
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

  async close(): Promise<void> {}
}
