/** A raw image of a volume as a file: sparse, complete or not there, and comparable with what was meant to be in it. */
import fs from 'node:fs/promises';
import path from 'node:path';

const ZEROS = Buffer.alloc(64 * 1024);
/** A hole is left for zeros of this size: the block of file systems. */
const HOLE_BYTES = 4096;

/** Takes blocks in any order. It is written under a temporary name and gets its own one when it is complete. */
export class RawImage {
  writtenBytes = 0;
  /** File systems let one write at a time into a file, and those that wait for it keep a core busy. */
  private turn: Promise<void> = Promise.resolve();

  private constructor(
    private readonly target: string,
    private readonly temporary: string,
    private readonly file: fs.FileHandle,
    readonly sizeBytes: number,
  ) {}

  /** @throws an error with the code `EEXIST` where there is such a file: none is replaced */
  static async create(target: string, sizeBytes: number): Promise<RawImage> {
    await fs.access(target).then(
      () => Promise.reject(Object.assign(new Error(`${target} exists`), { code: 'EEXIST' })),
      () => undefined,
    );
    const temporary = path.join(path.dirname(target), `.${path.basename(target)}.part`);
    const file = await fs.open(temporary, 'w+', 0o600);
    await file.truncate(sizeBytes);
    return new RawImage(target, temporary, file, sizeBytes);
  }

  /** Blocks of zeros are skipped: an unwritten range is a hole. */
  write(offset: number, bytes: Buffer): Promise<void> {
    const written = this.turn.then(() => this.writeNow(offset, bytes));
    this.turn = written.catch(() => undefined);
    return written;
  }

  private async writeNow(offset: number, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      let end = at;
      while (end < bytes.length && !isZeroBlock(bytes, end)) end = Math.min(bytes.length, end + HOLE_BYTES);
      if (end > at) {
        await writeAll(this.file, bytes.subarray(at, end), offset + at);
        this.writtenBytes += end - at;
      }
      at = Math.min(bytes.length, end + HOLE_BYTES);
    }
  }

  /** Nothing to do: each block is written once, into a file that was empty. */
  async zero(_offset: number, _lengthBytes: number): Promise<void> {}

  /** Whether the file holds these bytes there, as it is read back. */
  async holds(offset: number, bytes: Buffer): Promise<boolean> {
    const found = Buffer.alloc(bytes.length);
    const { bytesRead } = await this.file.read(found, 0, found.length, offset);
    return bytesRead === bytes.length && found.equals(bytes);
  }

  async complete(): Promise<void> {
    await this.file.sync();
    await this.file.close();
    // Fails where another program has made such a file meanwhile.
    await fs.link(this.temporary, this.target);
    await fs.rm(this.temporary);
  }

  async discard(): Promise<void> {
    await this.file.close().catch(() => undefined);
    await fs.rm(this.temporary, { force: true });
  }
}

function isZeroBlock(bytes: Buffer, at: number): boolean {
  const end = Math.min(bytes.length, at + HOLE_BYTES);
  return bytes.compare(ZEROS, 0, end - at, at, end) === 0;
}

async function writeAll(file: fs.FileHandle, bytes: Buffer, offset: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, offset + at);
    at += bytesWritten;
  }
}

/** A file, or a block device, as the source of a backup. */
export class FileSource {
  private constructor(
    private readonly file: fs.FileHandle,
    readonly sizeBytes: number,
  ) {}

  static async open(path: string): Promise<FileSource> {
    const file = await fs.open(path, 'r');
    const { size } = await file.stat();
    return new FileSource(file, size);
  }

  async read(offset: number, lengthBytes: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(lengthBytes);
    for (let at = 0; at < lengthBytes; ) {
      const { bytesRead } = await this.file.read(bytes, at, lengthBytes - at, offset + at);
      if (bytesRead === 0) throw new Error('the source ended while it was read');
      at += bytesRead;
    }
    return bytes;
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
