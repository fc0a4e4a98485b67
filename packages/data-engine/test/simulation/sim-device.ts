/** Simulated raw device of a block disk: its openings, and the locks by which processes share it. */

import type { BlockDevice, BlockDevices, DeviceLocks } from '../../src/disk/block/block-devices.js';
import { BlockDisk } from '../../src/disk/block/block-disk.js';
import { BlockStore } from '../../src/disk/block/block-store.js';
import { layoutOf, rootOffset, superblockOf } from '../../src/disk/block/layout.js';
import { recoverOwners } from '../../src/disk/block/recover.js';
import { freeRoots } from '../../src/disk/block/stored-copy.js';
import type { DiskStore } from '../../src/disk/disk-store.js';
import { SimFile } from './sim-file.js';
import type { Life, World } from './world.js';

/** How calls of a process reach the disk behind the device. */
interface Calls {
  readonly world: World;
  call<T>(life: Life, kind: 'read' | 'write' | 'other', work: () => T): Promise<T>;
  write(life: Life, file: SimFile, position: number, bytes: Buffer, isDirect: boolean): Promise<void>;
  sync(life: Life, file: SimFile): Promise<void>;
}

const DEVICE_BYTES = 96 * 1024 * 1024;
const DISK_ID = '00000000-0000-4000-8000-000000000001';

type Held = { readonly holder: object; kind: 'shared' | 'exclusive' };

export class SimDevice {
  file = new SimFile(DEVICE_BYTES, true);
  private readonly locks = new Map<number, Held[]>();
  private readonly opened = new WeakMap<Life, Promise<BlockDisk>>();

  constructor(private readonly disk: Calls) {
    const layout = layoutOf(DISK_ID, DEVICE_BYTES);
    this.file.write(0, superblockOf(layout)).hasEnded = true;
    this.file.write(rootOffset(0, 0), freeRoots(layout)).hasEnded = true;
    this.file.beginSync()().succeed();
  }

  /** One opening per process, as `shared-disks.ts` keeps it; a new one after a failed sync. */
  async store(life: Life): Promise<DiskStore> {
    let opening = this.opened.get(life);
    const there = await opening?.catch(() => undefined);
    if (there?.hasLost === true && this.opened.get(life) === opening) this.opened.delete(life);
    opening = this.opened.get(life);
    if (opening === undefined) {
      opening = BlockDisk.open('device', recoverOwners, this.devices(life));
      this.opened.set(life, opening);
      opening.catch(() => this.opened.delete(life));
    }
    return BlockStore.on(await opening);
  }

  powerCut(keepsSome: boolean): void {
    this.locks.clear();
    this.file.powerCut(this.disk.world.random, keepsSome);
  }

  private devices(life: Life): BlockDevices {
    return {
      open: async (_, direct) => this.opening(life, direct),
      sizeBytes: async () => DEVICE_BYTES,
      locks: async () => this.locksOf(life),
    };
  }

  private opening(life: Life, direct: boolean): BlockDevice {
    const { disk } = this;
    const read = (buffer: Buffer, position: number) =>
      direct ? this.file.readMedium(buffer, position) : this.file.readCache(buffer, position);
    return {
      readInto: (buffer, position) => disk.call(life, 'read', () => read(buffer, position)),
      readCached: (buffer, position) => disk.call(life, 'read', () => read(buffer, position)),
      readCachedNow: (buffer, position) => {
        if (disk.world.random.chance(2)) return false;
        read(buffer, position);
        return true;
      },
      write: (payload, position) => disk.write(life, this.file, position, Buffer.concat(payload), direct),
      zero: (position, lengthBytes) =>
        disk.write(life, this.file, position, Buffer.alloc(lengthBytes), direct),
      syncData: () => disk.sync(life, this.file),
      close: async () => undefined,
    };
  }

  private locksOf(life: Life): DeviceLocks {
    const holder = {};
    const others = (byte: number) => (this.locks.get(byte) ?? []).filter((held) => held.holder !== holder);
    const attempt = (byte: number, kind: 'shared' | 'exclusive'): boolean => {
      const there = others(byte);
      if (there.some((held) => kind === 'exclusive' || held.kind === 'exclusive')) return false;
      this.locks.set(byte, [...there, { holder, kind }]);
      return true;
    };
    const abandon = () => {
      for (const byte of this.locks.keys()) this.locks.set(byte, others(byte));
    };
    life.onDeath(abandon);
    return {
      try: attempt,
      take: async (byte, waitMs) => {
        const deadlineMs = life.time.nowMs() + waitMs;
        while (!attempt(byte, 'exclusive')) {
          if (life.time.nowMs() > deadlineMs) throw new Error('another process holds the lock');
          await life.time.sleep(2);
        }
      },
      release: (byte) => void this.locks.set(byte, others(byte)),
      abandon,
      close: async () => abandon(),
    };
  }
}
