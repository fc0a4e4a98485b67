import type { Change } from '@holdfast/control/ports/store.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { asId, type DiskId, type NodeId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { afterEach, beforeEach } from '@jest/globals';
import { aDiskReport, aHeartbeat, aVolume, NOON, testId } from './builders.js';
import type { MakeStore, StoreUnderTest } from './store-under-test.js';

export const DISK = asId<DiskId>(testId(501));

/** One store per test, and the few steps that most of these tests begin with. */
export class StoreFixture {
  private current: StoreUnderTest | undefined;

  constructor(makeStore: MakeStore) {
    beforeEach(async () => {
      this.current = await makeStore();
    });
    afterEach(async () => {
      await this.current?.stop();
      this.current = undefined;
    });
  }

  get under(): StoreUnderTest {
    if (this.current === undefined) throw new Error('the fixture works inside tests only');
    return this.current;
  }

  get store() {
    return this.under.store;
  }

  get tenant() {
    return this.under.tenant;
  }

  /** A node with one disk. */
  async node(name = 'node-1', diskId: DiskId = DISK): Promise<NodeId> {
    const heartbeat = aHeartbeat(name, { disks: [aDiskReport(diskId)] });
    return (await this.store.recordHeartbeat(this.tenant.clusterId, heartbeat, NOON)).nodeId;
  }

  async volume(part: Partial<Volume> = {}, further: readonly Change[] = []): Promise<VolumeId> {
    const volume = aVolume(this.tenant, part);
    await this.store.commit({ kind: 'new' }, [{ kind: 'volume.create', volume }, ...further]);
    return volume.id;
  }

  async load(volumeId: VolumeId) {
    const view = await this.store.loadVolume(volumeId);
    if (view === undefined) throw new Error(`volume ${volumeId} is not there`);
    return view;
  }

  async patch(volumeId: VolumeId, ifVersion: number, patch: Partial<Volume>): Promise<void> {
    await this.store.commit({ kind: 'volume', volumeId, ifVersion }, [
      { kind: 'volume.patch', volumeId, patch },
    ]);
  }

  async disk(diskId: DiskId = DISK) {
    const { disks } = await this.store.loadFleet(this.tenant.clusterId);
    const disk = disks.find(({ id }) => id === diskId);
    if (disk === undefined) throw new Error(`disk ${diskId} is not there`);
    return disk;
  }
}

/** `done`, or the code of the fault. Other errors pass. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (isFault(error)) return error.code;
    throw error;
  }
}
