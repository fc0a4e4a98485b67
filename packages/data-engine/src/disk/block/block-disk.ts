/**
 * An open block disk: one preallocated file, or a block device.
 *
 * Several processes have it open at once, the agent and its hosts, each copy in at most one of them. Their shared
 * state is on the disk itself, read and written through the page cache under locks. The first process to open it
 * rebuilds the ownership of clusters: after a power cut the stored one may be stale.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { type Closable, closeAll } from '../../base/close-all.js';
import { SharedFlush } from '../../base/shared-flush.js';
import { systemCode } from '../../base/system-error.js';
import { alignedBytes } from '../aligned-buffers.js';
import { BLOCK_SEALED_BYTES } from '../sealed-block.js';
import { type BlockDevice, type BlockDevices, type DeviceLocks, SYSTEM_DEVICES } from './block-devices.js';
import { damagedDisk, type Layout, layoutIn, PROBE_OFFSET } from './layout.js';

const IN_USE_LOCK = 0;
const SPACE_LOCK = 1;
const FIRST_SLOT_LOCK = 2;
/**
 * Time limit for the allocation lock, in milliseconds. Holders need well below one, so a longer wait means a stuck
 * process.
 */
const SPACE_WAIT_MS = 10_000;
/**
 * Time limit for the lock of a copy's slot, in milliseconds. A host whose agent has died flushes and ends within two
 * seconds; the next agent waits for that.
 */
const SLOT_WAIT_MS = 5_000;

export class BlockDisk {
  private readonly syncing = new SharedFlush(
    () => this.plain.syncData(),
    () => true,
    (failure) => {
      for (const call of this.whenLost) call(failure);
    },
  );
  /** Called once, after a sync has failed: one listener for each open copy. */
  readonly whenLost = new Set<(failure: unknown) => void>();
  private readonly openSlots = new Set<number>();
  private turn: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly path: string,
    readonly layout: Layout,
    /** Through the page cache: metadata. */
    readonly plain: BlockDevice,
    /** With direct I/O if the disk supports it: data. */
    readonly direct: BlockDevice,
    readonly supportsDirectIo: boolean,
    private readonly locks: DeviceLocks,
  ) {}

  /**
   * @param recover run while no other process has the disk open
   * @throws StorageFault `disk.wrong_identity` when it is not a block disk
   */
  static async open(
    path: string,
    recover: (disk: BlockDisk) => Promise<void>,
    devices: BlockDevices = SYSTEM_DEVICES,
  ): Promise<BlockDisk> {
    const plain = await devices.open(path, false);
    const opened: Closable[] = [plain];
    try {
      const layout = await readLayout(plain, path);
      requireWhole(layout, await devices.sizeBytes(path));
      const tried = await openDirect(path, devices);
      const direct = tried ?? (await devices.open(path, false));
      opened.push(direct);
      const locks = await devices.locks(path);
      opened.push(locks);
      const disk = new BlockDisk(path, layout, plain, direct, tried !== undefined, locks);
      await disk.alone(async () => {
        if (locks.try(IN_USE_LOCK, 'exclusive')) await recover(disk);
        locks.try(IN_USE_LOCK, 'shared');
      });
      return disk;
    } catch (error) {
      await closeAll(opened).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Makes every earlier write of any copy durable. One failure fails all later calls, for all copies: the kernel
   * reports it to one caller, and the lost data may be another copy's.
   */
  sync(): Promise<void> {
    return this.syncing.run();
  }

  /** True after a failed sync: the disk has to be reopened. */
  get hasLost(): boolean {
    return this.syncing.hasFailed;
  }

  /** Excludes allocation of space and slots by other processes during the work. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.turn.then(async () => {
      await this.locks.take(SPACE_LOCK, SPACE_WAIT_MS);
      try {
        return await work();
      } finally {
        this.locks.release(SPACE_LOCK);
      }
    });
    this.turn = mine.catch(() => undefined);
    return mine;
  }

  /** Locks a copy's slot until `leaveSlot`; false if it is taken. */
  trySlot(slot: number): boolean {
    if (this.openSlots.has(slot) || !this.locks.try(FIRST_SLOT_LOCK + slot, 'exclusive')) return false;
    this.openSlots.add(slot);
    return true;
  }

  /** @throws StorageFault `replica.in_use` when another process keeps the copy open */
  async takeSlot(slot: number): Promise<void> {
    if (!this.openSlots.has(slot)) {
      try {
        await this.locks.take(FIRST_SLOT_LOCK + slot, SLOT_WAIT_MS);
        this.openSlots.add(slot);
        return;
      } catch (cause) {
        throw slotInUse(cause);
      }
    }
    throw slotInUse();
  }

  leaveSlot(slot: number): void {
    if (this.openSlots.delete(slot)) this.locks.release(FIRST_SLOT_LOCK + slot);
  }

  /** Drops all locks, like a process that has died. */
  abandon(): void {
    this.locks.abandon();
  }

  async close(): Promise<void> {
    await this.turn;
    await closeAll([this.plain, this.direct, this.locks]);
  }
}

/** Reads the superblock. @throws StorageFault `disk.wrong_identity` */
export async function readLayout(file: BlockDevice, path: string): Promise<Layout> {
  const block = Buffer.alloc(BLOCK_SEALED_BYTES);
  await file.readInto(block, 0);
  const layout = layoutIn(block);
  if (layout !== undefined) return layout;
  throw new StorageFault('disk.wrong_identity', { publicMessage: `${path} is no block disk of Holdfast` });
}

/**
 * What lies past the end of a file reads as zeros, so a disk that was cut off would read as one whose end is blank.
 *
 * @throws StorageFault `disk.wrong_identity`
 */
export function requireWhole(layout: Layout, sizeBytes: number): void {
  if (sizeBytes >= layout.sizeBytes) return;
  throw damagedDisk(`it has ${sizeBytes} bytes instead of ${layout.sizeBytes}`);
}

/** Probes direct I/O with a real write and read: some file systems accept the flag and refuse the transfer. */
async function openDirect(path: string, devices: BlockDevices): Promise<BlockDevice | undefined> {
  let file: BlockDevice | undefined;
  try {
    file = await devices.open(path, true);
    const block = alignedBytes(BLOCK_SEALED_BYTES);
    await file.write([block], PROBE_OFFSET);
    await file.readInto(block, PROBE_OFFSET);
    return file;
  } catch (error) {
    await file?.close();
    const code = systemCode(error);
    if (code === 'EINVAL' || code === 'EOPNOTSUPP') return undefined;
    throw error;
  }
}

function slotInUse(cause?: unknown): StorageFault {
  return new StorageFault('replica.in_use', { publicMessage: 'another process has the copy open', cause });
}
