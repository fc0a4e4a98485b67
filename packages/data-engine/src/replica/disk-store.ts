/**
 * Where copies are kept. A folder of a file system is one kind of disk (`folder-store.ts`), a block disk the other one
 * (`../block-store`). `Replica` and its layers see no difference.
 *
 * What is promised of both: after a power cut a file holds what was written to it before the last `syncData` that had
 * begun after it, and its texts are each as one `writeText` left them. A full disk fails with the code `ENOSPC`.
 */
import type { Payload } from '../nbd/export.js';

/**
 * What a file is for. `data` takes whole blocks, past the page cache where that can be; what was neither written nor
 * zeroed, or was forgotten, reads as anything, and `holds` tells whether there is anything else in a range. `map` takes
 * any bytes, and what was not written reads as zeros.
 */
export type FileUse =
  | { readonly kind: 'data'; readonly holds: (position: number, lengthBytes: number) => boolean }
  | { readonly kind: 'map' };

/** One open file of a copy. */
export interface CopyFile {
  readonly name: string;
  /** Fills the whole buffer; what lies past the end of the file reads as zeros. */
  readInto(buffer: Buffer, position: number): Promise<void>;
  /** As `readInto`, but what is in memory may come from there instead of the disk. */
  readCached(buffer: Buffer, position: number): Promise<void>;
  /** The same without waiting. False when some of it is not in memory: the buffer then holds anything. */
  readCachedNow(buffer: Buffer, position: number): boolean;
  /**
   * As `readInto`, and what the disk holds whatever is in memory: after a sync that has failed the two may differ, and a
   * copy is opened from what would survive.
   */
  readStored(buffer: Buffer, position: number): Promise<void>;
  write(payload: Payload, position: number): Promise<void>;
  /** Makes a range read as zeros, and gives its space back where `mayPunch` and the disk allow it. */
  zero(position: number, lengthBytes: number, mayPunch: boolean): Promise<void>;
  /** Nobody asks for what is in the range any more: gives its space back where the disk allows it. */
  forget(position: number, lengthBytes: number): Promise<void>;
  /** What is added reads as zeros. */
  resize(sizeBytes: number): Promise<void>;
  /** Data and what is needed to read it back are on the disk when this returns. */
  syncData(): Promise<void>;
  sizeBytes(): Promise<number>;
  /** A text that is another one after any change of the file. */
  changeTime(): Promise<string>;
  /** Waits for running calls; later ones fail. */
  close(): Promise<void>;
}

/** The files of one copy. */
export interface CopyFiles {
  readonly kind: DiskStore['kind'];
  /** True once a sync has failed: only opening the copy anew tells what the disk holds. */
  readonly hasFailed: boolean;
  /** Fails when there is such a file. Its name is durable after `syncNames`. */
  createFile(name: string, sizeBytes: number, use: FileUse): Promise<CopyFile>;
  openFile(name: string, use: FileUse): Promise<CopyFile>;
  syncNames(): Promise<void>;
  /** Removes all files that are not named: what something interrupted has left. */
  keepOnly(names: ReadonlySet<string>): Promise<void>;
  /** `undefined` when there is no such text. */
  readText(name: string): Promise<string | undefined>;
  /** Replaces a text as a whole, durably. */
  writeText(name: string, text: string): Promise<void>;
  /** The files have been closed before. */
  close(): Promise<void>;
}

export interface DiskStore {
  readonly kind: 'filesystem' | 'block';
  /** Makes a copy; `fill` makes its files. One that is half-made is never found. */
  create(replicaId: string, fill: (files: CopyFiles) => Promise<void>): Promise<void>;
  /** @throws StorageFault `replica.not_found` */
  open(replicaId: string): Promise<CopyFiles>;
  /** A text of a copy that need not be open. */
  readText(replicaId: string, name: string): Promise<string | undefined>;
  /** Removes a copy, if it is there: nobody has it open. */
  remove(replicaId: string): Promise<void>;
  /** Ids of the copies, in order. Clears away what an interrupted create or remove left behind. */
  list(): Promise<string[]>;
  /** Space that a copy's data takes, without opening it. */
  allocatedBytes(replicaId: string): Promise<number>;
  /** Space that all copies take. Only looks: other copies may be made meanwhile. */
  usedBytes(): Promise<number>;
  close(): Promise<void>;
}
