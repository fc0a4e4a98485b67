/** Simulated raw device of a block disk: its openings, and the locks by which processes share it. */

import type { BlockDevice, BlockDevices, DeviceLocks } from '../../src/disk/block/block-devices.js';
import { BlockDisk } from '../../src/disk/block/block-disk.js';
import { BlockStore } from '../../src/disk/block/block-store.js';
import { layoutOf, rootOffset, superblockOf } from '../../src/disk/block/layout.js';
import { recoverOwners } from '../../src/disk/block/recover.js';
import { freeRoots } from '../../src/disk/block/stored-copy.js';
import type { DiskStore } from '../../src/disk/disk-store.js';
import { SimFile } from './sim-file.js';
import type { SimFolder } from './sim-folder.js';
import type { Life, World } from './world.js';

/** The disk that the device is in. */
interface Behind {
  readonly world: World;
  readonly root: SimFolder;
  openDevice(life: Life, direct: boolean): Promise<BlockDevice>;
}

/** Name of the device in the disk's root. */
export const DEVICE_NAME = 'device';
const DEVICE_BYTES = 96 * 1024 * 1024;
const DISK_ID = '00000000-0000-4000-8000-000000000001';

type Held = { readonly holder: object; kind: 'shared' | 'exclusive' };

export class SimDevice {
  private readonly locks = new Map<number, Held[]>();
  private readonly opened = new WeakMap<Life, Promise<BlockDisk>>();

  constructor(private readonly disk: Behind) {
    const layout = layoutOf(DISK_ID, DEVICE_BYTES);
    const file = new SimFile(DEVICE_BYTES, true);
    file.write(0, superblockOf(layout)).hasEnded = true;
    file.write(rootOffset(0, 0), freeRoots(layout)).hasEnded = true;
    file.beginSync()().succeed();
    disk.root.change([{ name: DEVICE_NAME, node: file }]);
    disk.root.beginSync()();
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

  /** Ends a process's opening, as the last copy that uses it does. */
  async release(life: Life): Promise<void> {
    const there = await this.opened.get(life)?.catch(() => undefined);
    this.opened.delete(life);
    there?.abandon();
  }

  forgetLocks(): void {
    this.locks.clear();
  }

  private devices(life: Life): BlockDevices {
    return {
      open: (_, direct) => this.disk.openDevice(life, direct),
      sizeBytes: async () => DEVICE_BYTES,
      locks: async () => this.locksOf(life),
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
