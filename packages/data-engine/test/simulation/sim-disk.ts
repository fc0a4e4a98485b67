/**
 * Simulated disk of a node: folders and files, and one device for a block disk. Processes reach them by system calls that take time, and
 * that may be slow, fail, be done in part, or find the disk full (`sim-system.ts`).
 */

import type { KnownDisk } from '../../src/disk/block-file.js';
import { BlockFile } from '../../src/disk/block-file.js';
import { DiskPace } from '../../src/disk/disk-pace.js';
import type { DiskStore } from '../../src/disk/disk-store.js';
import { FolderStore } from '../../src/disk/folder/folder-store.js';
import { DiskAllowance } from '../../src/disk/write-back-budget.js';
import { DEVICE_NAME, SimDevice } from './sim-device.js';
import { PAGE_BYTES, SECTOR_BYTES, SimFile } from './sim-file.js';
import { SimFolder } from './sim-folder.js';
import type { Life, World } from './world.js';

/** Longest time of a call that only changes or reads the kernel's memory, however slow the disk is. */
const IN_MEMORY_MS_MAX = 2;
/** One call in so many is done in part, as a kernel may do each. */
const PARTIAL_ONE_IN = 24;
/** What may be left of a full disk: it refuses somewhere in the middle of what comes. */
const LEFT_PAGES_MAX = 6;

/** Faults of the next calls, each applied once. */
export type DiskFaults = { read: boolean; write: boolean; sync: boolean };

/** What a call to a disk is. `memory` ends at once, however slow the disk is. */
type CallKind = keyof DiskFaults | 'disk' | 'memory';

/** How an opening of a file writes. */
export type Writing = { readonly isDirect: boolean; readonly unitBytes: number };

/** What one opening of a file knows of failed writes; a text is written anew as a whole each time. */
export type Opening = { told: number; readonly isText: boolean };

/** One process's view of the disk: where it is in the process's file system, and what the process has learnt of it. */
type Mounted = { readonly path: string; readonly known: KnownDisk };

/** Gives a process a path of its own to the disk (`sim-system.ts`). */
export type Mount = (disk: SimDisk, life: Life) => string;

export class SimDisk {
  root = new SimFolder();
  readonly device: SimDevice;
  faults: DiskFaults = { read: false, write: false, sync: false };
  slowestMs = 2;
  /** Called when a write or a sync fails: the process may lose what it has not made durable. */
  onFailure: () => void = () => undefined;
  /** Called when space was freed. */
  onPunch: () => void = () => undefined;
  /** Called when a process is told that a sync of a copy's data or map has failed. */
  onSyncFailed: () => void = () => undefined;
  private freeBytes = Number.POSITIVE_INFINITY;
  private readonly mounts = new WeakMap<Life, Mounted>();

  /** @param tearsBlocks data may be torn at sectors too, as no disk promises more; a volume's own check has whole blocks */
  constructor(
    readonly world: World,
    private readonly mount: Mount,
    private readonly tearsBlocks = false,
  ) {
    this.device = new SimDevice(this);
  }

  /** Unit at which a power cut may tear what is written to a file through the page cache or past it. */
  unitOf(name: string, isDirect: boolean): number {
    const isData = name.endsWith('.img') || (name === DEVICE_NAME && isDirect);
    return isData && !this.tearsBlocks ? PAGE_BYTES : SECTOR_BYTES;
  }

  get isFull(): boolean {
    return this.freeBytes !== Number.POSITIVE_INFINITY;
  }

  set isFull(isFull: boolean) {
    this.freeBytes = isFull ? this.world.random.below(LEFT_PAGES_MAX) * PAGE_BYTES : Number.POSITIVE_INFINITY;
  }

  /**
   * One system call of a process: the kernel runs it after a delay, and answers the process if that is still alive. A
   * process counts as gone only after its calls have ended: those in flight are done by then, or never will be.
   */
  call<T>(
    life: Life,
    kind: CallKind,
    work: () => T,
    /** `isNot` undoes what a call has shown that then failed or was never made: its process may be dead by then. */
    atDeath: { mayBeDone: boolean; isNot?: () => void } = { mayBeDone: true },
  ): Promise<T> {
    const { world } = this;
    const slowestMs = kind === 'memory' ? Math.min(IN_MEMORY_MS_MAX, this.slowestMs) : this.slowestMs;
    return new Promise((resolve, reject) => {
      const perform = () => {
        if (kind !== 'memory' && kind !== 'disk') this.failIfDue(kind);
        return work();
      };
      if (!life.isAlive) return;
      const cancel = world.after(world.duration(0.02, slowestMs), () => {
        forget();
        try {
          const result = perform();
          life.later(0, () => resolve(result));
        } catch (error) {
          atDeath.isNot?.();
          life.later(0, () => reject(error));
        }
      });
      const forget = life.onDeath(() => {
        cancel();
        if (!(atDeath.mayBeDone && world.random.chance(2) && attempt(perform))) atDeath.isNot?.();
      });
    });
  }

  /** @throws an error with the code `EIO` if the next call of this kind is to fail */
  failIfDue(kind: keyof DiskFaults): void {
    if (this.takeFault(kind)) throw failure('EIO');
  }

  async sync(life: Life, file: SimFile, opening: Opening): Promise<void> {
    const begun = file.beginSync();
    const isBad = this.takeFault('sync');
    await this.call(life, 'disk', () => {
      const { succeed, fail } = begun();
      if (isBad) fail(this.world.random);
      else succeed();
      if (!file.tellLoss(opening)) return;
      if (!opening.isText) life.later(0, () => this.onSyncFailed());
      throw failure('EIO');
    });
  }

  async syncFolder(life: Life, folder: SimFolder): Promise<void> {
    const succeed = folder.beginSync();
    const isBad = this.takeFault('sync');
    await this.call(life, 'disk', () => {
      if (isBad) throw failure('EIO');
      succeed();
    });
  }

  /**
   * A concurrent reader may see half of a write in flight; a power cut keeps whole units of it.
   *
   * @returns how many bytes were written: fewer where the disk is full, or the kernel stops half-way
   */
  async write(life: Life, file: SimFile, position: number, bytes: Buffer, writing: Writing): Promise<number> {
    const kind = writing.isDirect ? 'disk' : 'memory';
    const half = Math.floor(bytes.length / 1024) * 512;
    let undo: () => void = () => undefined;
    const undoOnce = () => {
      undo();
      undo = () => undefined;
    };
    if (half > 0) {
      const showHalf = () => {
        // Space of the whole write: what a reader sees of it has its place.
        if (this.roomFor(file, position, bytes.length) < bytes.length) return;
        undo = file.preview(position, bytes.subarray(0, half));
      };
      await this.call(life, kind, showHalf, { mayBeDone: false });
    }
    const isPartial = this.world.random.chance(PARTIAL_ONE_IN);
    return this.call(
      life,
      'write',
      () => {
        undoOnce();
        return this.writeAtOnce(file, position, bytes, writing, isPartial, !life.lostPower);
      },
      { mayBeDone: true, isNot: undoOnce },
    );
  }

  /** Only a power cut can end a write in the middle, which is then not ended. */
  writeAtOnce(
    file: SimFile,
    position: number,
    bytes: Buffer,
    { unitBytes }: Writing,
    isPartial = false,
    hasEnded = true,
  ): number {
    const room = this.roomFor(file, position, bytes.length);
    if (room === 0 && bytes.length > 0) throw failure('ENOSPC');
    const units = Math.floor(bytes.length / PAGE_BYTES);
    const partBytes =
      isPartial && units > 1 ? (1 + this.world.random.below(units - 1)) * PAGE_BYTES : bytes.length;
    const count = Math.min(room, partBytes);
    this.freeBytes -= [...file.pagesWithoutSpace(position, count)].length * PAGE_BYTES;
    const written = file.write(position, bytes.subarray(0, count), unitBytes);
    written.hasEnded = hasEnded;
    if (hasEnded) written.endedAtMs = this.world.nowMs;
    return count;
  }

  /** How many bytes from the position on find space. */
  private roomFor(file: SimFile, position: number, lengthBytes: number): number {
    if (!this.isFull) return lengthBytes;
    let free = this.freeBytes;
    for (const page of file.pagesWithoutSpace(position, lengthBytes)) {
      free -= PAGE_BYTES;
      if (free < 0) return Math.max(0, page * PAGE_BYTES - position);
    }
    return lengthBytes;
  }

  /** Preallocates the file's space. A kernel that finds too little for it may have taken a part. */
  reserve(file: SimFile, position: number, lengthBytes: number): void {
    const room = this.roomFor(file, position, lengthBytes);
    if (room < lengthBytes) throw failure('ENOSPC');
    this.freeBytes -= [...file.pagesWithoutSpace(position, lengthBytes)].length * PAGE_BYTES;
    file.reserve(position + lengthBytes);
  }

  punch(file: SimFile, position: number, lengthBytes: number): void {
    const before = file.allocatedBytes;
    file.punch(position, lengthBytes).hasEnded = true;
    this.giveBack(before - file.allocatedBytes);
    this.onPunch();
  }

  giveBack(bytes: number): void {
    this.freeBytes += bytes;
  }

  /** The kernel writes pages of some file of its own accord, and fails. @returns false if none has anything to write */
  failWriteback(): boolean {
    const files = [...this.root.files()];
    const first = this.world.random.below(Math.max(1, files.length));
    const isLost = [...files.slice(first), ...files.slice(0, first)].some((file) =>
      file.failWriteback(this.world.random),
    );
    if (isLost) this.onFailure();
    return isLost;
  }

  /** True if a power cut now would lose bytes whose write had ended by that time. */
  owesSync(byMs: number): boolean {
    return [...this.root.files()].some((file) => file.owesSync(byMs));
  }

  /** @param keepsSome false for the worst case: everything that no sync has covered is lost */
  powerCut(keepsSome: boolean): void {
    this.faults = { read: false, write: false, sync: false };
    this.device.forgetLocks();
    this.root.powerCut(this.world.random, keepsSome);
  }

  /** A copy of the current content, for restoring the machine later. */
  image(): SimFolder {
    return this.root.image();
  }

  restore(image: SimFolder): void {
    this.root = image;
  }

  folderStore(life: Life): DiskStore {
    const { path, known } = this.mounted(life);
    return new FolderStore(path, known);
  }

  /** The device as a process opens it. */
  openDevice(life: Life, direct: boolean): Promise<BlockFile> {
    const { path, known } = this.mounted(life);
    return BlockFile.open(`${path}/${DEVICE_NAME}`, { direct, disk: known });
  }

  private mounted(life: Life): Mounted {
    let mounted = this.mounts.get(life);
    if (mounted === undefined) {
      const known = { pace: new DiskPace(life.time), allowance: new DiskAllowance(), time: life.time };
      mounted = { path: this.mount(this, life), known };
      this.mounts.set(life, mounted);
    }
    return mounted;
  }

  private takeFault(kind: keyof DiskFaults): boolean {
    const isSet = this.faults[kind];
    this.faults[kind] = false;
    if (isSet && kind !== 'read') this.onFailure();
    return isSet;
  }
}

export function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: simulated`), { code });
}

/** Runs an action for a process that is dead: an error has no receiver. */
/** @returns false if it failed, which its process is too dead to hear */
function attempt(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
