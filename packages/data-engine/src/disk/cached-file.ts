/**
 * A file read and written through the page cache: cached bytes are read at once, without a thread; other bytes are read from the
 * disk by a thread, and stay cached. Written bytes stay in memory until the file is synced, or the kernel gets to them.
 */

import fs from 'node:fs';
import { KIB } from '@holdfast/core/model/bytes.js';
import { type Payload, payloadLength } from '../nbd/export.js';
import { beginWriting, closeFile, openFile, readFully, type WriteEnd } from './file-calls.js';
import { pageCache } from './page-cache.js';

/**
 * Largest read without a thread, in bytes. Copying more would block the event loop for longer than waking a thread
 * takes.
 */
const READ_NOW_BYTES_MAX = 128 * KIB;

export class CachedFile {
  /** False once the file system has said that it does not support RWF_NOWAIT. */
  private knowsWhatIsCached = true;

  private constructor(private readonly fd: number) {}

  static async open(path: string): Promise<CachedFile> {
    return new CachedFile(await openFile(path, fs.constants.O_RDWR));
  }

  /** Fills the buffer; bytes past the end of the file read as zeros. */
  read(buffer: Buffer, position: number): Promise<void> {
    // Loads the native module at the first read: a process whose copies are never read does without it.
    void pageCache.load();
    return readFully(this.fd, buffer, position, 1);
  }

  /**
   * Fills the buffer from the page cache. False if some bytes are not cached; the buffer's content is then undefined.
   */
  readNow(buffer: Buffer, position: number): boolean {
    if (!this.knowsWhatIsCached || buffer.length > READ_NOW_BYTES_MAX) return false;
    const count = pageCache.readNow(this.fd, buffer, position);
    if (count === undefined) this.knowsWhatIsCached = false;
    return count === buffer.length;
  }

  /** Fills the buffer on the event loop, from the disk where it has to. False at the end of the file. */
  readWaiting(buffer: Buffer, position: number): boolean {
    return fs.readSync(this.fd, buffer, 0, buffer.length, position) === buffer.length;
  }

  /** Copies a payload into the page cache, by a thread. */
  beginWrite(payload: Payload, position: number, ended: WriteEnd): void {
    beginWriting(this.fd, payload, position, ended);
  }

  /** The same on the event loop. False if the kernel took only a part. */
  writeNow(payload: Payload, position: number): boolean {
    const [first] = payload;
    if (payload.length === 1 && first !== undefined)
      return fs.writeSync(this.fd, first, 0, first.length, position) === first.length;
    return fs.writevSync(this.fd, payload, position) === payloadLength(payload);
  }

  close(): Promise<void> {
    return closeFile(this.fd);
  }
}
