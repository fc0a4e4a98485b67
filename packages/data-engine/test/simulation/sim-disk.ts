/**
 * Simulated disk of a node: files that a process reaches through calls that take time, and that may be slow, fail, or
 * find the disk full. Kept as folders of files (`FolderStore`'s kind) and as one device for a block disk.
 */
import type { CopyFile, CopyFiles, DiskStore, FileUse } from '../../src/disk/disk-store.js';
import { SimDevice } from './sim-device.js';
import { SimFile } from './sim-file.js';
import type { Life, World } from './world.js';

/** Unit of atomic writes in bytes: with direct I/O a block, otherwise a sector. */
const BLOCK_BYTES = 4096;
const SECTOR_BYTES = 512;

type Folder = { names: Map<string, SimFile>; storedNames: Map<string, SimFile>; texts: Map<string, string> };

/** Faults of the next calls, each applied once. */
export type DiskFaults = { read: boolean; write: boolean; sync: boolean };

export class SimDisk {
  readonly folders = new Map<string, Folder>();
  readonly device: SimDevice;
  faults: DiskFaults = { read: false, write: false, sync: false };
  isFull = false;
  slowestMs = 2;
  /** Called when a write or a sync fails: the process may lose what it has not made durable. */
  onFailure: () => void = () => undefined;
  /** Called when space was freed. */
  onPunch: () => void = () => undefined;

  constructor(readonly world: World) {
    this.device = new SimDevice(this);
  }

  /**
   * One system call of a process: the kernel runs it after a delay, and answers the process if that is still alive. A
   * process counts as gone only after its calls have ended: those in flight are done by then, or never will be.
   */
  call<T>(
    life: Life,
    kind: keyof DiskFaults | 'other',
    work: () => T,
    atDeath: { mayBeDone: boolean; isNot?: () => void } = { mayBeDone: true },
  ): Promise<T> {
    const { world } = this;
    return new Promise((resolve, reject) => {
      const perform = () => {
        if (kind !== 'other' && this.takeFault(kind)) throw failure('EIO');
        return work();
      };
      if (!life.isAlive) return;
      const cancel = world.after(world.duration(0.02, this.slowestMs), () => {
        forget();
        try {
          const result = perform();
          life.later(0, () => resolve(result));
        } catch (error) {
          life.later(0, () => reject(error));
        }
      });
      const forget = life.onDeath(() => {
        cancel();
        if (atDeath.mayBeDone && world.random.chance(2)) attempt(perform);
        else atDeath.isNot?.();
      });
    });
  }

  async sync(life: Life, file: SimFile): Promise<void> {
    const begun = file.beginSync();
    const isBad = this.takeFault('sync');
    await this.call(life, 'other', () => {
      const { succeed, fail } = begun();
      if (!isBad) return succeed();
      fail();
      throw failure('EIO');
    });
  }

  /**
   * A concurrent reader may see half of a write in flight; a power cut keeps whole sectors of it, or whole blocks of
   * data.
   */
  async write(life: Life, file: SimFile, position: number, bytes: Buffer, isDirect: boolean): Promise<void> {
    const requireSpace = () => {
      if (this.isFull && file.needsSpace(position, bytes.length)) throw failure('ENOSPC');
    };
    const half = Math.floor(bytes.length / 1024) * 512;
    let undo: () => void = () => undefined;
    if (half > 0) {
      const showHalf = () => {
        requireSpace();
        undo = file.preview(position, bytes.subarray(0, half));
      };
      await this.call(life, 'other', showHalf, { mayBeDone: false });
    }
    try {
      await this.call(
        life,
        'write',
        () => {
          requireSpace();
          const written = file.write(position, bytes, isDirect ? BLOCK_BYTES : SECTOR_BYTES);
          // Only a power cut can end a write in the middle.
          written.hasEnded = !life.lostPower;
          if (written.hasEnded) written.endedAtMs = this.world.nowMs;
        },
        { mayBeDone: true, isNot: () => undo() },
      );
    } catch (error) {
      undo();
      throw error;
    }
  }

  /** True if a power cut now would lose bytes whose write had ended by that time. */
  owesSync(byMs: number): boolean {
    if (this.device.file.owesSync(byMs)) return true;
    return [...this.folders.values()].some(({ names }) =>
      [...names.values()].some((file) => file.owesSync(byMs)),
    );
  }

  /** @param keepsSome false for the worst case: everything that no sync has covered is lost */
  powerCut(keepsSome: boolean): void {
    const { random } = this.world;
    this.faults = { read: false, write: false, sync: false };
    for (const folder of this.folders.values()) {
      const names = new Set([...folder.names.keys(), ...folder.storedNames.keys()]);
      const kept = new Map<string, SimFile>();
      for (const name of names) {
        const [now, stored] = [folder.names.get(name), folder.storedNames.get(name)];
        const found = now === stored || (keepsSome && random.chance(2)) ? now : stored;
        if (found !== undefined) kept.set(name, found);
      }
      for (const file of new Set([...folder.names.values(), ...folder.storedNames.values()]))
        file.powerCut(random, keepsSome);
      folder.names = kept;
      folder.storedNames = new Map(kept);
    }
    this.device.powerCut(keepsSome);
  }

  /** A copy of the current content, for restoring the machine later. */
  image(): Pick<SimDisk, 'folders'> & { device: SimFile } {
    const folders = new Map<string, Folder>();
    for (const [id, folder] of this.folders) {
      const names = new Map([...folder.names].map(([name, file]) => [name, file.image()]));
      folders.set(id, { names, storedNames: new Map(names), texts: new Map(folder.texts) });
    }
    return { folders, device: this.device.file.image() };
  }

  restore({ folders, device }: ReturnType<SimDisk['image']>): void {
    this.folders.clear();
    for (const [id, folder] of folders) this.folders.set(id, folder);
    this.device.file = device;
  }

  folderStore(life: Life): DiskStore {
    return new SimFolderStore(this, life);
  }

  private takeFault(kind: keyof DiskFaults): boolean {
    const isSet = this.faults[kind];
    this.faults[kind] = false;
    if (isSet && kind !== 'read') this.onFailure();
    return isSet;
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), { code });
}

/** Runs an action for a process that is dead: an error has no receiver. */
function attempt(work: () => unknown): void {
  try {
    work();
  } catch {
    // Reports to a dead process: ignored.
  }
}

class SimFolderStore implements DiskStore {
  readonly kind = 'filesystem';

  constructor(
    private readonly disk: SimDisk,
    private readonly life: Life,
  ) {}

  async create(replicaId: string, fill: (files: CopyFiles) => Promise<void>): Promise<void> {
    const folder: Folder = { names: new Map(), storedNames: new Map(), texts: new Map() };
    await fill(new SimCopyFiles(this.disk, this.life, folder));
    await this.disk.call(this.life, 'other', () => {
      folder.storedNames = new Map(folder.names);
      this.disk.folders.set(replicaId, folder);
    });
  }

  async open(replicaId: string): Promise<CopyFiles> {
    return new SimCopyFiles(this.disk, this.life, this.folder(replicaId));
  }

  async readText(replicaId: string, name: string): Promise<string | undefined> {
    return this.folder(replicaId).texts.get(name);
  }

  async remove(replicaId: string): Promise<void> {
    this.disk.folders.delete(replicaId);
  }

  async list(): Promise<string[]> {
    return [...this.disk.folders.keys()].sort();
  }

  async allocatedBytes(): Promise<number> {
    return 0;
  }

  async usedBytes(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {
    // No-op: nothing stays open between calls.
  }

  private folder(replicaId: string): Folder {
    const folder = this.disk.folders.get(replicaId);
    if (folder === undefined) throw failure('ENOENT');
    return folder;
  }
}

class SimCopyFiles implements CopyFiles {
  readonly kind = 'filesystem';
  hasFailed = false;
  onLost: (failure: Error) => void = () => undefined;

  constructor(
    private readonly disk: SimDisk,
    private readonly life: Life,
    private readonly folder: Folder,
  ) {}

  async createFile(name: string, sizeBytes: number, use: FileUse): Promise<CopyFile> {
    return this.disk.call(this.life, 'other', () => {
      if (this.folder.names.has(name)) throw failure('EEXIST');
      if (this.disk.isFull && use.kind === 'map') throw failure('ENOSPC');
      const file = new SimFile(sizeBytes, use.kind === 'map');
      this.folder.names.set(name, file);
      return this.opened(file, name, use);
    });
  }

  async openFile(name: string, use: FileUse): Promise<CopyFile> {
    return this.disk.call(this.life, 'other', () => {
      const file = this.folder.names.get(name);
      if (file === undefined) throw failure('ENOENT');
      return this.opened(file, name, use);
    });
  }

  async syncNames(): Promise<void> {
    const names = new Map(this.folder.names);
    await this.disk.call(this.life, 'other', () => {
      this.folder.storedNames = names;
    });
  }

  async keepOnly(names: ReadonlySet<string>): Promise<void> {
    await this.disk.call(this.life, 'other', () => {
      for (const name of [...this.folder.names.keys()]) if (!names.has(name)) this.folder.names.delete(name);
    });
  }

  async readText(name: string): Promise<string | undefined> {
    return this.disk.call(this.life, 'other', () => this.folder.texts.get(name));
  }

  /** Atomic and durable; a power cut during it leaves either the old or the new text. */
  async writeText(name: string, text: string): Promise<void> {
    await this.disk.call(this.life, 'write', () => void this.folder.texts.set(name, text));
  }

  async close(): Promise<void> {
    // No-op: the folder itself is not held open.
  }

  private opened(file: SimFile, name: string, use: FileUse): SimCopyFile {
    return new SimCopyFile(this.disk, this.life, file, name, use, (failure) => {
      this.hasFailed = true;
      this.onLost(failure);
    });
  }
}

class SimCopyFile implements CopyFile {
  readonly gapBytesMax = 4 * BLOCK_BYTES;
  private isClosed = false;
  private hasLost = false;

  constructor(
    private readonly disk: SimDisk,
    private readonly life: Life,
    private readonly file: SimFile,
    readonly name: string,
    private readonly use: FileUse,
    private readonly onLost: (failure: Error) => void,
  ) {}

  readInto(buffer: Buffer, position: number): Promise<void> {
    return this.call('read', () => this.readNow(buffer, position));
  }

  readStored(buffer: Buffer, position: number): Promise<void> {
    return this.call('read', () => this.file.readMedium(buffer, position));
  }

  readCached(buffer: Buffer, position: number): Promise<void> {
    return this.call('read', () => this.readNow(buffer, position));
  }

  readCachedNow(buffer: Buffer, position: number): boolean {
    if (this.disk.world.random.chance(2)) return false;
    this.readNow(buffer, position);
    return true;
  }

  async write(payload: readonly Buffer[], position: number): Promise<void> {
    this.requireOpen();
    await this.disk.write(this.life, this.file, position, Buffer.concat(payload), this.isDirect);
  }

  async zero(position: number, lengthBytes: number, mayPunch: boolean): Promise<void> {
    this.requireOpen();
    if (!mayPunch)
      return this.disk.write(this.life, this.file, position, Buffer.alloc(lengthBytes), this.isDirect);
    await this.call('write', () => {
      this.file.punch(position, lengthBytes).hasEnded = true;
      this.disk.onPunch();
    });
  }

  forget(position: number, lengthBytes: number): Promise<void> {
    return this.zero(position, lengthBytes, true);
  }

  resize(sizeBytes: number): Promise<void> {
    return this.call('write', () => {
      if (this.disk.isFull && this.file.isReserved && sizeBytes > this.file.sizeBytes)
        throw failure('ENOSPC');
      this.file.resize(sizeBytes);
    });
  }

  /** After one failure every later call fails, as in a production file. */
  async syncData(): Promise<void> {
    this.requireOpen();
    if (this.hasLost) throw failure('EIO');
    try {
      await this.disk.sync(this.life, this.file);
    } catch (error) {
      this.hasLost = true;
      if (error instanceof Error) this.onLost(error);
      throw error;
    }
  }

  sizeBytes(): Promise<number> {
    return this.call('other', () => this.file.sizeBytes);
  }

  changeTime(): Promise<string> {
    return this.call('other', () => String(this.file.changes));
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  private get isDirect(): boolean {
    return this.use.kind === 'data';
  }

  /** Data bypasses the page cache; metadata does not. */
  private readNow(buffer: Buffer, position: number): void {
    if (this.isDirect) this.file.readMedium(buffer, position);
    else this.file.readCache(buffer, position);
  }

  private call<T>(kind: 'read' | 'write' | 'other', work: () => T): Promise<T> {
    this.requireOpen();
    return this.disk.call(this.life, kind, work);
  }

  private requireOpen(): void {
    if (this.isClosed) throw new Error(`${this.name} is closed`);
  }
}
