import {
  deleteRecurringSnapshot,
  recurringSnapshotNotFound,
  setRecurringSnapshot,
} from '@holdfast/control/use-cases/recurring-snapshots.js';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../../access/tenant.js';
import type { VolumeKey } from '../volumes/read-volume.js';
import {
  type RecurringSnapshotBody,
  type RecurringSnapshotView,
  recurringSnapshotView,
} from '../volumes/recurring-snapshot.schemas.js';
import { VolumesService } from '../volumes/volumes.service.js';

type Key = VolumeKey & { recurringName: string };
/** `version` is its volume's: schedules are a part of it. */
export type FoundRecurringSnapshot = { view: RecurringSnapshotView; version: number };

/** Operations on a volume's recurring snapshots. REST and GraphQL are two thin adapters over it. */
@Injectable()
export class RecurringSnapshotsService {
  constructor(private readonly volumes: VolumesService) {}

  /** All of them at once: a volume has few. */
  async list(tenant: Tenant, key: VolumeKey): Promise<RecurringSnapshotView[]> {
    const { volume } = await this.volumes.get(tenant, key);
    return volume.recurringSnapshots.map(recurringSnapshotView);
  }

  /** @throws StorageFault `recurring_snapshot.not_found` */
  async get(tenant: Tenant, key: Key): Promise<FoundRecurringSnapshot> {
    const { volume } = await this.volumes.get(tenant, key);
    const found = volume.recurringSnapshots.find(({ name }) => name === key.recurringName);
    if (found === undefined) throw recurringSnapshotNotFound(key.recurringName);
    return { view: recurringSnapshotView(found), version: volume.version };
  }

  async set(
    tenant: Tenant,
    key: Key,
    body: RecurringSnapshotBody,
    ifVersion: number | undefined,
  ): Promise<FoundRecurringSnapshot> {
    await this.volumes.get(tenant, key);
    const { volumeId, recurringName: name } = key;
    await setRecurringSnapshot(tenant.volumePorts, { ...body, volumeId, name, ifVersion });
    return this.get(tenant, key);
  }

  /** @returns it as it was */
  async delete(tenant: Tenant, key: Key, ifVersion: number | undefined): Promise<RecurringSnapshotView> {
    const { view } = await this.get(tenant, key);
    const { volumeId, recurringName: name } = key;
    await deleteRecurringSnapshot(tenant.volumePorts, { volumeId, name, ifVersion });
    return view;
  }
}
