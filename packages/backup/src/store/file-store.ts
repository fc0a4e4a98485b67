/**
 * A folder as a target, NFS included. An object is written under a temporary name, synced, and gets its own name by one call that can't be
 * seen half done: `link` where it must not replace another one, else `rename`.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { ObjectInfo, ObjectStore, PutOptions } from './object-store.js';
import { full, refused, tooLarge, unreachable } from './store-faults.js';

/** Temporary names begin so; a listing leaves them out. */
const TEMPORARY = '.tmp-';
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

export class FileStore implements ObjectStore {
  readonly description: string;
  /** Folders that are known to be there, so that a pack does not ask again. */
  private readonly folders = new Set<string>();

  constructor(private readonly root: string) {
    this.description = `file://${root}`;
  }

  async get(name: string, bytesMax: number): Promise<Buffer | undefined> {
    return this.reading(name, async (file) => {
      const { size } = await file.stat();
      if (size > bytesMax) throw tooLarge(name, size, bytesMax);
      return readExactly(file, 0, size);
    });
  }

  async getRange(
    name: string,
    offset: number,
    lengthBytes: number,
    memory?: Buffer,
  ): Promise<Buffer | undefined> {
    return this.reading(name, (file) => readExactly(file, offset, lengthBytes, memory));
  }

  async put(
    name: string,
    bytes: Buffer,
    { ifAbsent = false }: PutOptions = {},
  ): Promise<'stored' | 'exists'> {
    const target = this.pathOf(name);
    const folder = path.dirname(target);
    return guarded(name, async () => {
      await this.makeFolder(folder);
      const temporary = path.join(folder, `${TEMPORARY}${randomBytes(8).toString('hex')}`);
      try {
        await writeSynced(temporary, bytes);
        if (ifAbsent) {
          if (!(await linked(temporary, target))) return 'exists';
        } else await fs.rename(temporary, target);
      } finally {
        await fs.rm(temporary, { force: true });
      }
      await syncFolder(folder);
      return 'stored';
    });
  }

  async head(name: string): Promise<ObjectInfo | undefined> {
    return guarded(name, async () => {
      const found = await fs.stat(this.pathOf(name)).catch(absent);
      if (found === undefined || !found.isFile()) return undefined;
      return { name, sizeBytes: found.size, modifiedAt: found.mtime };
    });
  }

  async *list(prefix: string): AsyncIterable<ObjectInfo> {
    const cut = prefix.lastIndexOf('/') + 1;
    yield* this.listFolder(prefix.slice(0, cut), prefix);
  }

  private async *listFolder(folder: string, prefix: string): AsyncIterable<ObjectInfo> {
    const at = folder === '' ? this.root : this.pathOf(folder.slice(0, -1));
    const entries = await guarded(folder, async () => (await fs.opendir(at).catch(absent)) ?? []);
    for await (const entry of entries) {
      const name = `${folder}${entry.name}`;
      if (entry.name.startsWith(TEMPORARY)) continue;
      if (entry.isDirectory()) {
        const below = `${name}/`;
        if (below.startsWith(prefix) || prefix.startsWith(below)) yield* this.listFolder(below, prefix);
      } else if (name.startsWith(prefix)) {
        const info = await this.head(name);
        // It may have been deleted since it was listed.
        if (info !== undefined) yield info;
      }
    }
  }

  async delete(name: string): Promise<'deleted' | 'locked'> {
    const target = this.pathOf(name);
    await guarded(name, () => fs.rm(target, { force: true }));
    const folder = path.dirname(target);
    // Fails where it holds other objects.
    if (folder !== this.root)
      await fs.rmdir(folder).then(
        () => this.folders.delete(folder),
        () => undefined,
      );
    return 'deleted';
  }

  close(): void {}

  private async reading(
    name: string,
    read: (file: fs.FileHandle) => Promise<Buffer | undefined>,
  ): Promise<Buffer | undefined> {
    const target = this.pathOf(name);
    return guarded(name, async () => {
      // A stranger's target may hold anything: neither a pipe, which would hang, nor a link out of the folder is opened.
      const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
      const file = await fs.open(target, flags).catch(absent);
      if (file === undefined) return undefined;
      try {
        if (!(await file.stat()).isFile()) throw unreachable(`${name} is no file`);
        return await read(file);
      } finally {
        await file.close();
      }
    });
  }

  private async makeFolder(folder: string): Promise<void> {
    if (this.folders.has(folder)) return;
    const first = await fs.mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    // Each new folder is a name in the one above it.
    for (let at = folder; first !== undefined && at.startsWith(first); at = path.dirname(at))
      await syncFolder(path.dirname(at));
    this.folders.add(folder);
  }

  private pathOf(name: string): string {
    const target = path.join(this.root, name);
    if (!target.startsWith(`${this.root}${path.sep}`) || name.includes('\0'))
      throw refused(`${JSON.stringify(name)} is no name of an object`);
    return target;
  }
}

/** `undefined` where the file ends before. */
async function readExactly(
  file: fs.FileHandle,
  offset: number,
  lengthBytes: number,
  memory?: Buffer,
): Promise<Buffer | undefined> {
  const isLongEnough = memory !== undefined && memory.length >= lengthBytes;
  const bytes = isLongEnough ? memory.subarray(0, lengthBytes) : Buffer.allocUnsafeSlow(lengthBytes);
  let read = 0;
  while (read < lengthBytes) {
    const { bytesRead } = await file.read(bytes, read, lengthBytes - read, offset + read);
    if (bytesRead === 0) return undefined;
    read += bytesRead;
  }
  return bytes;
}

async function writeSynced(file: string, bytes: Buffer): Promise<void> {
  const handle = await fs.open(file, 'wx', FILE_MODE);
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await fs.link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function absent(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
  throw error;
}

const FULL = ['ENOSPC', 'EDQUOT'];
const REFUSED = ['EACCES', 'EPERM', 'EROFS', 'ELOOP', 'ENAMETOOLONG', 'EISDIR'];

/** Runs a call, and makes faults of the system's errors. */
async function guarded<Value>(name: string, call: () => Promise<Value>): Promise<Value> {
  try {
    return await call();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || error instanceof TypeError || code.includes('.')) throw error;
    if (FULL.includes(code)) throw full(error);
    if (REFUSED.includes(code)) throw refused(`${code} for ${name}`, error);
    throw unreachable(`${code} for ${name}`, error);
  }
}
