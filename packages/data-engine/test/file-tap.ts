/**
 * File-system tap: intercepts each call that changes or syncs a file under a given folder, may refuse it, and knows
 * when none is running. The code under test is unaware of it: the functions of `node:fs` are replaced while a tap is
 * installed.
 */
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import { nativeCalls } from '../src/disk/native-calls.js';

/** One opened file or folder. Two openings of one file are two of these. */
export type OpenFile = { readonly path: string };

export type FileCall =
  | { kind: 'open'; path: string; flags: string | number; file: OpenFile }
  | { kind: 'write'; file: OpenFile; position: number; pieces: readonly Buffer[] }
  | { kind: 'truncate'; file: OpenFile; sizeBytes: number }
  | { kind: 'punch'; file: OpenFile; position: number; lengthBytes: number }
  /** Preallocates a range. */
  | { kind: 'reserve'; file: OpenFile; position: number; lengthBytes: number }
  | { kind: 'sync'; file: OpenFile }
  | { kind: 'read'; file: OpenFile }
  | { kind: 'rename'; from: string; to: string }
  /** The two names are exchanged: each then refers to the other one's file. */
  | { kind: 'exchange'; from: string; to: string }
  | { kind: 'remove'; path: string }
  | { kind: 'mkdir'; path: string };

/**
 * Called before a call is made; may throw to refuse it. The returned function is called when the call has succeeded.
 */
export type FileObserver = (call: FileCall) => (() => void) | undefined;

/** Called before a call is made; the call waits for the returned promise, and fails with its rejection. */
export type FileHolder = (call: FileCall) => Promise<void> | undefined;

type Callback = (error: NodeJS.ErrnoException | null, ...results: never[]) => void;

export class FileTap {
  private readonly opened = new Map<number, OpenFile>();
  private readonly running = new Map<FileCall, string>();
  private readonly restore: (() => void)[] = [];

  constructor(
    private readonly folder: string,
    private readonly observer: FileObserver,
    private readonly holder?: FileHolder,
  ) {}

  install(): void {
    this.tapDescriptors();
    this.tapPaths();
    this.tapNativeCalls();
  }

  uninstall(): void {
    for (const undo of this.restore.reverse()) undo();
    this.restore.length = 0;
  }

  /** Resolves when no call on anything under the folder is running. */
  async idle(folder: string): Promise<void> {
    while ([...this.running.values()].some((path) => isUnder(path, folder))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Closes everything open under the folder, as the kernel does for a process that has died. */
  closeAll(folder: string): void {
    for (const [fd, { path }] of [...this.opened]) {
      if (!isUnder(path, folder)) continue;
      this.opened.delete(fd);
      fs.closeSync(fd);
    }
  }

  private begin(call: FileCall, path: string): (error: unknown) => void {
    const succeeded = this.observer(call);
    this.running.set(call, path);
    return (error) => {
      this.running.delete(call);
      if (error === null || error === undefined) succeeded?.();
    };
  }

  private replace<Host extends object, Name extends keyof Host & string>(
    host: Host,
    name: Name,
    make: (real: never) => unknown,
  ): void {
    const real = host[name];
    // The casts: each replacement has the signature of the real function.
    host[name] = make(real as never) as Host[Name];
    this.restore.push(() => {
      host[name] = real;
    });
  }

  private tapDescriptors(): void {
    this.replace(fs, 'open', (real: typeof fs.open) => (...args: unknown[]) => {
      const [path, flags] = args;
      const done = args.pop() as (error: NodeJS.ErrnoException | null, fd: number) => void;
      const call = (...all: unknown[]) => (real as (...given: unknown[]) => void)(...all);
      if (typeof path !== 'string' || !isUnder(path, this.folder)) return call(...args, done);
      const file = { path };
      this.withCallback(
        { kind: 'open', path, flags: flags as string | number, file },
        path,
        (error, fd: number) => {
          if (error === null) this.opened.set(fd, file);
          done(error, fd);
        },
        (ended) => call(...args, ended),
      );
    });
    this.replace(fs, 'close', (real: typeof fs.close) => (fd: number, done: Callback) => {
      this.opened.delete(fd);
      real(fd, done as never);
    });
    this.onDescriptor('read', (file) => ({ kind: 'read', file }));
    this.onDescriptor('readv', (file) => ({ kind: 'read', file }));
    this.onDescriptor('fdatasync', (file) => ({ kind: 'sync', file }));
    this.onDescriptor('fsync', (file) => ({ kind: 'sync', file }));
    this.onDescriptor('ftruncate', (file, [sizeBytes]) => ({
      kind: 'truncate',
      file,
      sizeBytes: sizeBytes as number,
    }));
    this.onDescriptor('writev', ofPieces);
    this.onDescriptor('write', ofPiece);
    this.onLoop('writevSync', ofPieces);
    this.onLoop('writeSync', ofPiece);
  }

  /** A write on the event loop can't be held: where calls may be, the kernel takes nothing of it, and a thread makes the write. */
  private onLoop(name: 'writeSync' | 'writevSync', describe: Describe): void {
    this.replace(fs, name, (real: (...args: unknown[]) => number) => (fd: number, ...rest: unknown[]) => {
      const file = this.opened.get(fd);
      if (file === undefined) return real(fd, ...rest);
      if (this.holder !== undefined) return 0;
      const end = this.begin(describe(file, rest), file.path);
      try {
        const count = real(fd, ...rest);
        end(null);
        return count;
      } catch (error) {
        end(error);
        throw error;
      }
    });
  }

  private onDescriptor(
    name: 'read' | 'readv' | 'write' | 'writev' | 'fdatasync' | 'fsync' | 'ftruncate',
    describe: Describe,
  ): void {
    this.replace(fs, name, (real: (...args: unknown[]) => void) => (fd: number, ...rest: unknown[]) => {
      const file = this.opened.get(fd);
      if (file === undefined) return real(fd, ...rest);
      const done = rest.pop() as Callback;
      this.withCallback(describe(file, rest), file.path, done, (ended) => real(fd, ...rest, ended));
    });
  }

  private withCallback<Result extends unknown[]>(
    call: FileCall,
    path: string,
    done: (error: NodeJS.ErrnoException | null, ...results: Result) => void,
    run: (ended: (error: NodeJS.ErrnoException | null, ...results: Result) => void) => void,
  ): void {
    let end: (error: unknown) => void;
    try {
      end = this.begin(call, path);
    } catch (error) {
      // Refused; the other arguments mean nothing then, as with a real failure.
      setImmediate(() => (done as unknown as (error: unknown) => void)(error));
      return;
    }
    const ended = (error: NodeJS.ErrnoException | null, ...results: Result) => {
      end(error);
      done(error, ...results);
    };
    const held = this.holder?.(call);
    if (held === undefined) {
      run(ended);
      return;
    }
    // Refused late: the other arguments mean nothing then, as with a real failure.
    const refused = ended as unknown as (error: unknown) => void;
    held.then(() => run(ended), refused);
  }

  private tapPaths(): void {
    this.onPath('rename', (from, to) => ({ kind: 'rename', from, to }));
    this.onPath('rm', (path) => ({ kind: 'remove', path }));
    this.onPath('mkdir', (path) => ({ kind: 'mkdir', path }));
    this.replace(
      fsPromises,
      'open',
      (real: typeof fsPromises.open) => async (path: string, flags: string, mode?: number) => {
        if (!isUnder(path, this.folder)) return real(path, flags, mode);
        const file = { path };
        const end = this.begin({ kind: 'open', path, flags, file }, path);
        try {
          const handle = await real(path, flags, mode);
          end(null);
          return this.tapHandle(handle, file);
        } catch (error) {
          end(error);
          throw error;
        }
      },
    );
  }

  private onPath(name: 'rename' | 'rm' | 'mkdir', describe: (path: string, to: string) => FileCall): void {
    this.replace(
      fsPromises,
      name,
      (real: (...args: unknown[]) => Promise<unknown>) =>
        (path: string, ...rest: unknown[]) =>
          isUnder(path, this.folder)
            ? this.withPromise(describe(path, rest[0] as string), path, () => real(path, ...rest))
            : real(path, ...rest),
    );
  }

  private tapHandle(handle: fsPromises.FileHandle, file: OpenFile): object {
    const { path } = file;
    const write = (pieces: Buffer[], position: number, run: () => Promise<unknown>) =>
      this.withPromise({ kind: 'write', file, position, pieces }, path, run);
    const sync = (run: () => Promise<void>) => this.withPromise({ kind: 'sync', file }, path, run);
    const tapped: Record<string, unknown> = {
      writeFile: (content: string) => write([Buffer.from(content)], 0, () => handle.writeFile(content)),
      write: (buffer: Buffer, offset: number, length: number, position: number) =>
        write([buffer.subarray(offset, offset + length)], position, () =>
          handle.write(buffer, offset, length, position),
        ),
      sync: () => sync(() => handle.sync()),
      datasync: () => sync(() => handle.datasync()),
    };
    return new Proxy(handle, {
      get: (target, name) => {
        const own: unknown = tapped[String(name)] ?? Reflect.get(target, name);
        return typeof own === 'function' ? own.bind(target) : own;
      },
    });
  }

  private async withPromise<T>(call: FileCall, path: string, run: () => Promise<T>): Promise<T> {
    const end = this.begin(call, path);
    try {
      await this.holder?.(call);
      const result = await run();
      end(null);
      return result;
    } catch (error) {
      end(error);
      throw error;
    }
  }

  /** Holes are punched on a plain descriptor, and two names are exchanged by their paths. What the kernel refuses has changed nothing. */
  private tapNativeCalls(): void {
    const whereDone = async (call: FileCall, path: string, run: () => Promise<number>): Promise<number> => {
      const result = this.withPromise(call, path, async () => {
        const value = await run();
        if (value !== 0) throw new Error('the kernel has refused it');
        return value;
      });
      return await result.catch(() => -1);
    };
    this.replace(nativeCalls, 'fallocate', (real: typeof nativeCalls.fallocate) => {
      const tapped: typeof real = (fd, mode, position, lengthBytes) => {
        const file = this.opened.get(fd);
        const run = () => real(fd, mode, position, lengthBytes);
        if (file === undefined) return run();
        return whereDone({ kind: 'punch', file, position, lengthBytes }, file.path, run);
      };
      return tapped;
    });
    // A refused reservation answers with its error's number, as the kernel's does.
    this.replace(nativeCalls, 'posixFallocate', (real: typeof nativeCalls.posixFallocate) => {
      const tapped: typeof real = (fd, position, lengthBytes) => {
        const file = this.opened.get(fd);
        const run = () => real(fd, position, lengthBytes);
        if (file === undefined) return run();
        return this.withPromise({ kind: 'reserve', file, position, lengthBytes }, file.path, run).catch(
          (error: NodeJS.ErrnoException) => Math.abs(error.errno ?? EIO),
        );
      };
      return tapped;
    });
    this.replace(nativeCalls, 'renameAt2', (real: typeof nativeCalls.renameAt2) => {
      const tapped: typeof real = (fromFolder, from, toFolder, to, flags) => {
        const run = () => real(fromFolder, from, toFolder, to, flags);
        if (!isUnder(from, this.folder)) return run();
        return whereDone({ kind: 'exchange', from, to }, from, run);
      };
      return tapped;
    });
  }
}

const EIO = 5;

type Describe = (file: OpenFile, args: readonly unknown[]) => FileCall;

function ofPieces(file: OpenFile, [pieces, position]: readonly unknown[]): FileCall {
  return { kind: 'write', file, position: position as number, pieces: pieces as Buffer[] };
}

function ofPiece(file: OpenFile, [buffer, offset, length, position]: readonly unknown[]): FileCall {
  const from = offset as number;
  const piece = (buffer as Buffer).subarray(from, from + (length as number));
  return { kind: 'write', file, position: position as number, pieces: [piece] };
}

function isUnder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
