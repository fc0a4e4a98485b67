/**
 * A/B files: a text has a spare file of the same size. A new text is written into the spare, and the two names are
 * then swapped atomically. This also works on a full disk: what must be stored then (which copies are current, which
 * engine is fenced) needs no new space.
 *
 * Space after the text is padded with line ends. Where two files can't swap names (NFS, ZFS), or data is never
 * overwritten in place (btrfs, ZFS), the replacement is as safe, but a full disk may refuse it.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { KIB } from '@holdfast/core/model/bytes.js';
import { systemCode } from '../../base/system-error.js';
import { syncDirectory } from '../durable-file.js';
import { exchangeNames } from './exchange-names.js';

/** Minimum size of a file: enough for a copy with a handful of layers. Longer texts get twice what they need. */
const CAPACITY_BYTES_MIN = 8 * KIB;
const UNIT_BYTES = 4 * KIB;
const FILLER = '\n';

export class SpareText {
  private readonly current: string;
  private readonly spare: string;
  private replacing: Promise<void> = Promise.resolve();

  constructor(
    private readonly directory: string,
    name: string,
  ) {
    this.current = path.join(directory, name);
    this.spare = `${this.current}.spare`;
  }

  /** The text as the last `replace` left it, with its padding; `undefined` if there is none. */
  async read(): Promise<string | undefined> {
    try {
      return await fs.readFile(this.current, 'utf8');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * Replaces the text: after a crash the old or the new one is there, whole. Serialised: two would write into the
   * same spare.
   *
   * @param begins called when the names are swapped, or may be: what fails before has changed nothing, such as a disk without room for a
   *   text that has grown past its file
   */
  replace(text: string, begins?: () => void): Promise<void> {
    const replaced = this.replacing.then(() => this.store(text, begins));
    this.replacing = replaced.catch(() => undefined);
    return replaced;
  }

  private async store(text: string, begins?: () => void): Promise<void> {
    await writeFilled(this.spare, text);
    await this.swap(begins);
    await syncDirectory(this.directory);
    // On a full disk the spare keeps its size, which is enough for texts as long as this one.
    await reserve(this.spare, capacityFor(text)).catch(() => undefined);
  }

  private async swap(begins?: () => void): Promise<void> {
    try {
      if (!(await exchangeNames(this.spare, this.current))) await fs.rename(this.spare, this.current);
    } catch (error) {
      // A read-only file system refuses a rename before it looks at the names; of any other failure nothing is known.
      if (systemCode(error) !== 'EROFS') begins?.();
      throw error;
    }
    begins?.();
  }
}

/** Overwrites the file's content durably, and keeps its space. */
async function writeFilled(file: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const handle = await openOrMake(file);
  try {
    const { size } = await handle.stat();
    const filled = Buffer.alloc(Math.max(size, capacityFor(text) / 2, bytes.length), FILLER);
    bytes.copy(filled);
    await writeAll(handle, filled, 0);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Extends the file to at least this length, with line ends that are on the disk. */
async function reserve(file: string, sizeBytes: number): Promise<void> {
  const handle = await openOrMake(file);
  try {
    const { size } = await handle.stat();
    if (size >= sizeBytes) return;
    await writeAll(handle, Buffer.alloc(sizeBytes - size, FILLER), size);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: fs.FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

async function openOrMake(file: string): Promise<fs.FileHandle> {
  try {
    return await fs.open(file, 'r+');
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return fs.open(file, 'w', 0o600);
  }
}

/** File size for a text: twice its length, as room to grow. */
function capacityFor(text: string): number {
  const wanted = Math.max(CAPACITY_BYTES_MIN, 2 * Buffer.byteLength(text));
  return Math.ceil(wanted / UNIT_BYTES) * UNIT_BYTES;
}
