/**
 * Byte-range locks on a file; the range need not exist. The agent and its host processes share a block disk by them:
 * a process that dies drops its locks, whatever it was doing.
 *
 * They belong to an open file and not to a process (F_OFD_SETLK of Linux), so that two openings in one process also
 * exclude each other.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageFault } from '@holdfast/core/model/faults.js';

const F_OFD_SETLK = 37;
const TYPES = { shared: 0, exclusive: 1, none: 2 } as const;
const ASK_AGAIN_MS = 2;

type Fcntl = (fd: number, command: number, flock: Buffer) => number;

let loading: Promise<Fcntl> | undefined;

async function loadFcntl(): Promise<Fcntl> {
  const { default: koffi } = await import('koffi');
  const call = koffi.load('libc.so.6').func('int fcntl(int fd, int cmd, ...)');
  return (fd, command, flock) => call(fd, command, 'void *', flock);
}

export class FileLocks {
  private isAbandoned = false;

  private constructor(
    private readonly fd: number,
    private readonly fcntl: Fcntl,
  ) {}

  /** @throws StorageFault `disk.not_ready` on a platform without such locks */
  static async of(fd: number): Promise<FileLocks> {
    try {
      loading ??= loadFcntl();
      return new FileLocks(fd, await loading);
    } catch (cause) {
      throw new StorageFault('disk.not_ready', {
        publicMessage: 'block disks need file locks, which this platform does not have',
        cause,
      });
    }
  }

  /** False if a conflicting lock is held elsewhere. A lock that is held already is converted. */
  try(byte: number, kind: 'shared' | 'exclusive'): boolean {
    return this.set(byte, kind);
  }

  /** @throws StorageFault `disk.not_ready` when the lock is not free within the time */
  async take(byte: number, waitMs: number): Promise<void> {
    const deadlineMs = performance.now() + waitMs;
    while (!this.set(byte, 'exclusive')) {
      if (performance.now() > deadlineMs) {
        throw new StorageFault('disk.not_ready', {
          publicMessage: 'another process holds a lock of the block disk and does not let go',
        });
      }
      await sleep(ASK_AGAIN_MS);
    }
  }

  release(byte: number): void {
    this.set(byte, 'none');
  }

  /** Drops all locks for good, like a process that has died. */
  abandon(): void {
    this.set(0, 'none', 0);
    this.isAbandoned = true;
  }

  /** @param lengthBytes 0 for everything that follows */
  private set(byte: number, kind: keyof typeof TYPES, lengthBytes = 1): boolean {
    if (this.isAbandoned) throw new Error('the locks were abandoned');
    // struct flock: type, whence, (padding), start, length, (process, which has to be 0).
    const flock = Buffer.alloc(32);
    flock.writeInt16LE(TYPES[kind], 0);
    flock.writeBigInt64LE(BigInt(byte), 8);
    flock.writeBigInt64LE(BigInt(lengthBytes), 16);
    return this.fcntl(this.fd, F_OFD_SETLK, flock) === 0;
  }
}
