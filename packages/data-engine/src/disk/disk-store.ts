/**
 * Storage interface for copies. A folder of a file system is one kind of disk (`folder-store.ts`), a block disk the
 * other (`block-store.ts`). `Replica` and its layers see no difference.
 *
 * Both guarantee: after a power cut a file holds everything written before the start of the last completed
 * `syncData`, and each text is exactly as one `writeText` left it. A full disk fails with the code `ENOSPC`.
 */
import type { Payload } from '../nbd/export.js';
import type { WriteEnd } from './file-calls.js';

/**
 * Purpose of a file. `data` takes whole blocks, with direct I/O if possible; ranges that were neither written nor
 * zeroed, or were forgotten, have undefined content, and `holds` tells which ranges have data. `map` takes any bytes,
 * and unwritten ones read as zeros.
 */
export type FileUse =
  | { readonly kind: 'data'; readonly holds: (position: number, lengthBytes: number) => boolean }
  | { readonly kind: 'map' };

/** An open file of a copy. */
export interface CopyFile {
  readonly name: string;
  /** Longest gap between two ranges that is read together with them for less than a call for each; left out: none is. */
  readonly gapBytesMax?: number;
  /** Fills the whole buffer; bytes past the end of the file read as zeros. */
  readInto(buffer: Buffer, position: number): Promise<void>;
  /** Like `readInto`, but may be served from the page cache. */
  readCached(buffer: Buffer, position: number): Promise<void>;
  /**
   * Like `readCached`, without a thread. False if some bytes are not cached and, unless the request is alone and the disk fast,
   * would have to be waited for; the buffer's content is then undefined.
   */
  readCachedNow(buffer: Buffer, position: number, isAlone?: boolean): boolean;
  /**
   * Like `readInto`, but always from the disk: after a failed sync disk and cache may differ, and a copy is opened
   * from what would survive.
   */
  readStored(buffer: Buffer, position: number): Promise<void>;
  /** A write that is alone may be made on the event loop, where the disk is fast. */
  write(payload: Payload, position: number, isAlone?: boolean): Promise<void>;
  /** Like `write`, without a promise; `ended` is called at the end, maybe before this returns. */
  beginWrite?(payload: Payload, position: number, isAlone: boolean, ended: WriteEnd): void;
  /** Makes a write without a thread, if this disk takes it at once; false otherwise, and a part may have been written. */
  writeNow?(payload: Payload, position: number): boolean;
  /** Zeroes a range; frees its space if `mayPunch` is set and the disk supports it. */
  zero(position: number, lengthBytes: number, mayPunch: boolean): Promise<void>;
  /** Discards a range that will not be read again: frees its space if the disk supports it. */
  forget(position: number, lengthBytes: number): Promise<void>;
  /** Changes the file's length; added bytes read as zeros. */
  resize(sizeBytes: number): Promise<void>;
  /** Makes data, and the metadata needed to read it back, durable. */
  syncData(): Promise<void>;
  sizeBytes(): Promise<number>;
  /** A text that differs after any change of the file. */
  changeTime(): Promise<string>;
  /** Waits for running calls; later ones fail. */
  close(): Promise<void>;
}

/** The files of one copy. */
export interface CopyFiles {
  readonly kind: DiskStore['kind'];
  /** True after a failed sync: only reopening the copy shows what the disk holds. */
  readonly hasFailed: boolean;
  /** Called when a sync of one of the files has failed, whichever caller requested it: at once, before any answer. */
  onLost: (failure: Error) => void;
  /** Fails if the file exists. The name is durable after `syncNames`. */
  createFile(name: string, sizeBytes: number, use: FileUse): Promise<CopyFile>;
  openFile(name: string, use: FileUse): Promise<CopyFile>;
  syncNames(): Promise<void>;
  /** Removes all other files: leftovers of interrupted operations. */
  keepOnly(names: ReadonlySet<string>): Promise<void>;
  /** `undefined` if the text does not exist. */
  readText(name: string): Promise<string | undefined>;
  /**
   * Replaces a text atomically and durably.
   *
   * @param begins called when the new text may be there from now on; what fails before has changed nothing
   */
  writeText(name: string, text: string, begins?: () => void): Promise<void>;
  /** The caller has closed the files. */
  close(): Promise<void>;
}

export interface DiskStore {
  readonly kind: 'filesystem' | 'block';
  /** Creates a copy; `fill` makes its files. Atomic: a half-made copy is never listed. */
  create(replicaId: string, fill: (files: CopyFiles) => Promise<void>): Promise<void>;
  /** @throws StorageFault `replica.not_found` */
  open(replicaId: string): Promise<CopyFiles>;
  /** Reads a text of a copy without opening the copy. */
  readText(replicaId: string, name: string): Promise<string | undefined>;
  /** Removes a copy, if it exists. It must not be open. */
  remove(replicaId: string): Promise<void>;
  /** Ids of the copies, sorted. Also removes leftovers of an interrupted create or remove. */
  list(): Promise<string[]>;
  /** Bytes allocated for a copy's data, without opening it. */
  allocatedBytes(replicaId: string): Promise<number>;
  /** Bytes allocated for all copies. Read-only, so it is safe while other copies are being created. */
  usedBytes(): Promise<number>;
  close(): Promise<void>;
}
