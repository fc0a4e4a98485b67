/**
 * A/B files: a text has a second file of the same size beside it, its spare. A new text is written into the spare, and then
 * the two change names at once. So a text is replaced as a whole, and on a full disk too: what must be stored then (which
 * copies are current, which engine is fenced) needs no space that is not there already.
 *
 * What is longer than the text is filled up with line ends. Where two files can't change names at once (NFS, ZFS), or
 * nothing is ever written in place (btrfs, ZFS), the text is replaced as safely, but a full disk may refuse it.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { KIB } from '@holdfast/core/model/bytes.js';
import { syncDirectory } from './durable-file.js';
import { exchangeNames } from './exchange-names.js';
import { systemCode } from './system-error.js';

/** A copy with a handful of layers; those with more get twice of what they need. */
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

  /** The text as the last `replace` left it, with what it was filled up with; `undefined` when there was none. */
  async read(): Promise<string | undefined> {
    try {
      return await fs.readFile(this.current, 'utf8');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * After a crash the old or the new text is there, whole. One at a time: two would write into the same spare.
   *
   * @throws an error with the code `ENOSPC` only when the text has grown past its file, on a full disk; nothing has changed then
   */
  replace(text: string): Promise<void> {
    const replaced = this.replacing.then(() => this.store(text));
    this.replacing = replaced.catch(() => undefined);
    return replaced;
  }

  private async store(text: string): Promise<void> {
    await writeFilled(this.spare, text);
    if (!(await exchangeNames(this.spare, this.current))) await fs.rename(this.spare, this.current);
    await syncDirectory(this.directory);
    // A disk that is full now leaves the spare as it is: it serves for texts as long as this one.
    await reserve(this.spare, capacityFor(text)).catch(() => undefined);
  }
}

/** Writes the text over what the file holds, durably, and keeps the file's space. */
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

/** Makes the file at least so long, of line ends that are on the disk. */
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

/** Room to grow: twice the text. */
function capacityFor(text: string): number {
  const wanted = Math.max(CAPACITY_BYTES_MIN, 2 * Buffer.byteLength(text));
  return Math.ceil(wanted / UNIT_BYTES) * UNIT_BYTES;
}
