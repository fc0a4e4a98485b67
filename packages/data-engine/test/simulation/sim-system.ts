/**
 * Simulated system calls on files: the functions of Node and of the C library that the data engine calls, for paths under a root that no
 * machine has. Above them the production classes run as they are, down to the buffers; below them are the disks of the run (`sim-disk.ts`).
 *
 * Each process sees its node's disk under a path of its own: so it is known whose call one is, and a process that dies is answered nothing.
 */
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import os from 'node:os';
import { nativeCalls } from '../../src/disk/native-calls.js';
import { pageCache } from '../../src/disk/page-cache.js';
import { failure, type Opening, type SimDisk } from './sim-disk.js';
import { SimFile } from './sim-file.js';
import { SimFolder, type SimNode } from './sim-folder.js';
import type { Life } from './world.js';

const ROOT = '/simulated-disks';
/** Far above the numbers that the kernel gives. */
const FIRST_DESCRIPTOR = 1_000_000;
const { O_CREAT, O_DIRECT, O_EXCL, O_TRUNC } = fs.constants;
const { EIO, ENOSPC } = os.constants.errno;
/** Of reads through the page cache that may not wait, one in so many finds bytes missing; pages are dropped now and then. */
const UNCACHED_ONE_IN = 2;
const DROPPED_ONE_IN = 16;

type Mount = { readonly number: number; readonly disk: SimDisk; readonly life: Life };
type Opened = Mount &
  Opening & { readonly node: SimNode; readonly isDirect: boolean; readonly unitBytes: number };
type OpenedFile = Opened & { readonly node: SimFile };
type Done = (error: Error | null, result?: unknown) => void;

/** Both grow with each process of a run, and are emptied after it. Numbers are never given again: what a process knows by one stays its own. */
const mounts = new Map<number, Mount>();
const opened = new Map<number, Opened>();
let lastNumber = 0;
let lastDescriptor = FIRST_DESCRIPTOR;

/** @returns the path under which the process finds the disk */
export function mount(disk: SimDisk, life: Life): string {
  lastNumber += 1;
  mounts.set(lastNumber, { number: lastNumber, disk, life });
  return `${ROOT}/${lastNumber}`;
}

export function forgetMounts(): void {
  mounts.clear();
  opened.clear();
}

/** Replaces the system's calls for the rest of this process. */
export function installSystem(): void {
  replaceCalls();
  replaceLoopCalls();
  replacePathCalls();
  replaceNativeCalls();
}

type AnyCall = (...args: unknown[]) => unknown;

/** Puts calls in the place of the system's, which still get what is not simulated. */
function replace(host: object, calls: Record<string, AnyCall>): void {
  for (const [name, simulated] of Object.entries(calls)) {
    const real: AnyCall = Reflect.get(host, name);
    Reflect.set(host, name, (...args: unknown[]) => {
      const [at] = args;
      const isOurs =
        typeof at === 'number' ? at >= FIRST_DESCRIPTOR : typeof at === 'string' && at.startsWith(ROOT);
      return isOurs ? simulated(...args) : real.apply(host, args);
    });
  }
}

/** A call whose last argument is told of its end. */
function told(call: (...args: unknown[]) => Promise<unknown>): AnyCall {
  return (...args) => {
    const done = args.pop() as Done;
    call(...args).then(
      (result) => done(null, result),
      (error: unknown) => done(error as Error),
    );
  };
}

function replaceCalls(): void {
  replace(fs, {
    open: told((path, flags) => openAt(path as string, flags as number)),
    close: told((fd) => close(fd as number)),
    ftruncate: told((fd, sizeBytes) => {
      const { disk, life, node } = fileOf(fd);
      return disk.call(life, 'write', () => node.resize(sizeBytes as number));
    }),
    fdatasync: told((fd) => sync(fd as number)),
    fstat: told((fd) => {
      const { disk, life, node } = fileOf(fd);
      return disk.call(life, 'memory', () => ({
        size: BigInt(node.sizeBytes),
        ctimeNs: BigInt(node.changes),
      }));
    }),
    read: told((fd, buffer, offset, lengthBytes, position) => {
      const from = offset as number;
      return read(
        fileOf(fd),
        (buffer as Buffer).subarray(from, from + (lengthBytes as number)),
        position as number,
      );
    }),
    write: told((fd, buffer, offset, lengthBytes, position) => {
      const from = offset as number;
      return write(
        fileOf(fd),
        (buffer as Buffer).subarray(from, from + (lengthBytes as number)),
        position as number,
      );
    }),
    writev: told((fd, pieces, position) =>
      write(fileOf(fd), Buffer.concat(pieces as Buffer[]), position as number),
    ),
  });
}

/** Calls that the event loop waits for. */
function replaceLoopCalls(): void {
  const writeNow = (fd: unknown, bytes: Buffer, position: number): number => {
    const file = fileOf(fd);
    if (!file.life.isAlive) throw failure('EIO');
    file.disk.failIfDue('write');
    return file.disk.writeAtOnce(
      file.node,
      position,
      bytes,
      file,
      file.disk.world.random.chance(UNCACHED_ONE_IN * 8),
    );
  };
  replace(fs, {
    writeSync: (fd, buffer, offset, lengthBytes, position) => {
      const from = offset as number;
      return writeNow(
        fd,
        (buffer as Buffer).subarray(from, from + (lengthBytes as number)),
        position as number,
      );
    },
    writevSync: (fd, pieces, position) => writeNow(fd, Buffer.concat(pieces as Buffer[]), position as number),
    readSync: (fd, buffer, offset, lengthBytes, position) => {
      const file = fileOf(fd);
      file.disk.failIfDue('read');
      const from = offset as number;
      return readAtOnce(
        file,
        (buffer as Buffer).subarray(from, from + (lengthBytes as number)),
        position as number,
      );
    },
  });
}

function replacePathCalls(): void {
  replace(fsPromises, {
    open: async (path, flags) => handleOf(await openAt(path as string, flagsOf(flags as string))),
    mkdir: (path, options) => onFolder(path as string, (folder, name) => makeFolder(folder, name, options)),
    rename: (from, to) =>
      onFolder(from as string, (folder, name) => {
        const node = folder.get(name);
        if (node === undefined) throw failure('ENOENT');
        folder.change([
          { name, node: undefined },
          { name: nameOf(to as string), node },
        ]);
      }),
    rm: (path, options) =>
      onFolder(path as string, (folder, name, { disk }) => {
        if (folder.get(name) === undefined) throw failure('ENOENT');
        remove(folder, name, disk);
      }).catch((error: unknown) => {
        if ((options as { force?: boolean } | undefined)?.force !== true) throw error;
      }),
    readdir: (path) =>
      onPath(path as string, (node) => {
        if (!(node instanceof SimFolder)) throw failure(node === undefined ? 'ENOENT' : 'ENOTDIR');
        return node.list();
      }),
    readFile: (path) =>
      onPath(path as string, (node) => {
        if (!(node instanceof SimFile)) throw failure('ENOENT');
        const bytes = Buffer.alloc(node.sizeBytes);
        node.readCache(bytes, 0);
        return bytes.toString('utf8');
      }),
    stat: (path) =>
      onPath(path as string, (node, { number }) => {
        if (node === undefined) throw failure('ENOENT');
        // Of each process its own: what a process finds out of a disk while it dies is lost with it.
        return {
          dev: FIRST_DESCRIPTOR + number,
          isDirectory: () => node instanceof SimFolder,
          blocks: node instanceof SimFile ? node.allocatedBytes / 512 : 0,
        };
      }),
  });
}

function replaceNativeCalls(): void {
  replace(nativeCalls, {
    fallocate: (fd, _, position, lengthBytes) => {
      const { disk, life, node } = fileOf(fd);
      return disk
        .call(life, 'write', () => disk.punch(node, position as number, lengthBytes as number))
        .then(
          () => 0,
          () => -1,
        );
    },
    posixFallocate: (fd, position, lengthBytes) => {
      const { disk, life, node } = fileOf(fd);
      return disk
        .call(life, 'write', () => disk.reserve(node, position as number, lengthBytes as number))
        .then(
          () => 0,
          (error: unknown) => ((error as NodeJS.ErrnoException).code === 'ENOSPC' ? ENOSPC : EIO),
        );
    },
  });
  // The names are the second and the fourth argument.
  const { renameAt2 } = nativeCalls;
  nativeCalls.renameAt2 = (fromFolder, from, toFolder, to, flags) => {
    if (!from.startsWith(ROOT)) return renameAt2(fromFolder, from, toFolder, to, flags);
    return onFolder(from, (folder, name) => {
      const [one, other] = [folder.get(name), folder.get(nameOf(to))];
      if (one === undefined || other === undefined) return -1;
      folder.change([
        { name, node: other },
        { name: nameOf(to), node: one },
      ]);
      return 0;
    });
  };
  const { load } = pageCache;
  Object.assign(pageCache, {
    // Real time would end in the middle of a run.
    load: () => (mounts.size > 0 ? Promise.resolve() : load()),
  });
  replace(pageCache, {
    readNow: (fd, buffer, position) => {
      const file = fileOf(fd);
      if (file.disk.world.random.chance(UNCACHED_ONE_IN)) return -1;
      return readAtOnce(file, buffer as Buffer, position as number);
    },
    forget: (fd) => fileOf(fd).node.forgetCached(),
  });
}

// What the calls do

async function openAt(path: string, flags: number): Promise<number> {
  return onFolder(path, (folder, name, { number, disk, life }) => {
    let node = folder.get(name);
    if (node !== undefined && (flags & O_EXCL) !== 0) throw failure('EEXIST');
    if (node === undefined) {
      if ((flags & O_CREAT) === 0) throw failure('ENOENT');
      node = new SimFile(0);
      folder.change([{ name, node }]);
    } else if ((flags & O_TRUNC) !== 0 && node instanceof SimFile) node.resize(0);
    const isDirect = (flags & O_DIRECT) !== 0;
    lastDescriptor += 1;
    opened.set(lastDescriptor, {
      number,
      disk,
      life,
      node,
      isDirect,
      unitBytes: disk.unitOf(name, isDirect),
      isText: !/\.(img|map|sums)$|^device$/.test(name),
      told: node instanceof SimFile ? node.toldAtOpening() : 0,
    });
    return lastDescriptor;
  });
}

function close(fd: number): Promise<void> {
  const { disk, life } = openedAt(fd);
  opened.delete(fd);
  return disk.call(life, 'memory', () => undefined);
}

function sync(fd: number): Promise<void> {
  const one = openedAt(fd);
  const { disk, life, node } = one;
  return node instanceof SimFile ? disk.sync(life, node, one) : disk.syncFolder(life, node);
}

function read(file: OpenedFile, buffer: Buffer, position: number): Promise<number> {
  return file.disk.call(file.life, 'read', () => readAtOnce(file, buffer, position));
}

function readAtOnce({ disk, node, isDirect }: OpenedFile, buffer: Buffer, position: number): number {
  const count = Math.max(0, Math.min(buffer.length, node.sizeBytes - position));
  if (isDirect) node.readMedium(buffer.subarray(0, count), position);
  else {
    // Memory is short now and then, and clean pages go, also those that only seem to be clean.
    if (disk.world.random.chance(DROPPED_ONE_IN)) node.forgetCached();
    node.readCache(buffer.subarray(0, count), position);
  }
  return count;
}

function write(file: OpenedFile, bytes: Buffer, position: number): Promise<number> {
  return file.disk.write(file.life, file.node, position, Buffer.from(bytes), file);
}

function makeFolder(folder: SimFolder, name: string, options: unknown): void {
  if (folder.get(name) === undefined) folder.change([{ name, node: new SimFolder() }]);
  else if ((options as { recursive?: boolean } | undefined)?.recursive !== true) throw failure('EEXIST');
}

/** The names below a folder go one by one. */
function remove(folder: SimFolder, name: string, disk: SimDisk): void {
  const node = folder.get(name);
  if (node instanceof SimFolder) for (const inner of node.list()) remove(node, inner, disk);
  else if (node !== undefined) disk.giveBack(node.allocatedBytes);
  folder.change([{ name, node: undefined }]);
}

/** An opened file as `node:fs/promises` hands it out, with as much of it as the data engine uses. */
function handleOf(fd: number) {
  return {
    stat: async () => ({ size: fileOf(fd).node.sizeBytes }),
    write: async (buffer: Buffer, offset: number, lengthBytes: number, position: number) => {
      const bytesWritten = await write(fileOf(fd), buffer.subarray(offset, offset + lengthBytes), position);
      return { bytesWritten };
    },
    read: async (buffer: Buffer, offset: number, lengthBytes: number, position: number) => {
      const bytesRead = await read(fileOf(fd), buffer.subarray(offset, offset + lengthBytes), position);
      return { bytesRead };
    },
    sync: () => sync(fd),
    close: () => close(fd),
  };
}

function flagsOf(flags: string | number): number {
  if (typeof flags === 'number') return flags;
  return flags === 'w' ? O_CREAT | O_TRUNC : 0;
}

function openedAt(fd: unknown): Opened {
  const found = opened.get(fd as number);
  if (found === undefined) throw failure('EBADF');
  return found;
}

function fileOf(fd: unknown): OpenedFile {
  const found = openedAt(fd);
  if (found.node instanceof SimFile) return found as OpenedFile;
  throw failure('EISDIR');
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function mountOf(path: string): { mount: Mount; names: string[] } {
  const [number = '', ...names] = path.slice(ROOT.length + 1).split('/');
  const found = mounts.get(Number(number));
  if (found === undefined) throw failure('ENOENT');
  return { mount: found, names };
}

async function onPath<T>(path: string, work: (node: SimNode | undefined, at: Mount) => T): Promise<T> {
  const { mount: at, names } = mountOf(path);
  return at.disk.call(at.life, 'memory', () => work(walk(at.disk.root, names), at));
}

/** A call on a name in a folder, which has to be there. */
async function onFolder<T>(
  path: string,
  work: (folder: SimFolder, name: string, at: Mount) => T,
): Promise<T> {
  const { mount: at, names } = mountOf(path);
  const name = names.pop();
  return at.disk.call(at.life, 'memory', () => {
    if (name === undefined) return work(within(at.disk.root), '.', at);
    const folder = walk(at.disk.root, names);
    if (!(folder instanceof SimFolder)) throw failure('ENOENT');
    return work(folder, name, at);
  });
}

/** A folder that holds the root, under the name by which a process opens its disk. */
function within(root: SimFolder): SimFolder {
  const above = new SimFolder();
  above.change([{ name: '.', node: root }]);
  return above;
}

function walk(root: SimFolder, names: readonly string[]): SimNode | undefined {
  let node: SimNode | undefined = root;
  for (const name of names) node = node instanceof SimFolder ? node.get(name) : undefined;
  return node;
}
