import {
  requestHash,
  requestPurge,
  requestSnapshot,
  requestSnapshotDeletion,
} from '@holdfast/control/use-cases/snapshots.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ClusterId, type SnapshotId, type VolumeId } from '@holdfast/core/model/ids.js';
import { type ListRequest, mapPage, type Page } from '@holdfast/database/queries/list-rows.js';
import { findSnapshot, listSnapshots } from '@holdfast/database/queries/snapshots.js';
import { findVolume } from '@holdfast/database/queries/volumes.js';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../platform/tenant.js';
import { type VolumeKey, volumeNotFound } from '../volumes/volumes.service.js';
import { type SnapshotView, snapshotView } from './snapshot.view.js';

type SnapshotKey = { clusterId: ClusterId; volumeId: VolumeId; snapshotId: SnapshotId };

/** What can be done with a volume's snapshots. REST and GraphQL are two thin adapters over it. */
@Injectable()
export class SnapshotsService {
  list(tenant: Tenant, key: VolumeKey, request: ListRequest): Promise<Page<SnapshotView>> {
    return tenant.read(async (sql) => {
      if ((await findVolume(sql, key)) === undefined) throw volumeNotFound(key.volumeId);
      return mapPage(await listSnapshots(sql, key, request), snapshotView);
    });
  }

  async get(tenant: Tenant, key: SnapshotKey): Promise<SnapshotView> {
    const found = await tenant.read((sql) => findSnapshot(sql, key));
    if (found !== undefined) return snapshotView(found);
    throw new StorageFault('snapshot.not_found', { publicMessage: `there is no snapshot ${key.snapshotId}` });
  }

  async create(tenant: Tenant, key: VolumeKey, name: string | undefined): Promise<SnapshotView> {
    await this.requireVolume(tenant, key);
    const earlier = await this.takenEarlier(tenant, key);
    if (earlier !== undefined) return earlier;
    const snapshotId = await requestSnapshot(tenant.ports, {
      volumeId: key.volumeId,
      name: name ?? tenant.now.toISOString(),
    });
    return this.get(tenant, { ...key, snapshotId });
  }

  /** The snapshot as it is from now on, or as it was when it is gone at once. */
  async delete(tenant: Tenant, key: SnapshotKey): Promise<SnapshotView> {
    const before = await this.get(tenant, key);
    await requestSnapshotDeletion(tenant.ports, key);
    const found = await tenant.read((sql) => findSnapshot(sql, key));
    return found === undefined ? { ...before, state: 'removing' } : snapshotView(found);
  }

  async purge(tenant: Tenant, key: VolumeKey): Promise<void> {
    await this.requireVolume(tenant, key);
    await requestPurge(tenant.ports, { volumeId: key.volumeId });
  }

  async hash(tenant: Tenant, key: SnapshotKey, force: boolean): Promise<SnapshotView> {
    await this.get(tenant, key);
    await requestHash(tenant.ports, { ...key, force });
    return this.get(tenant, key);
  }

  /** An id of another cluster's volume is not found. */
  private async requireVolume(tenant: Tenant, key: VolumeKey): Promise<void> {
    const found = await tenant.read((sql) => findVolume(sql, key));
    if (found === undefined) throw volumeNotFound(key.volumeId);
  }

  /** What a first try of this request has asked for, whose process died before it could answer. */
  private async takenEarlier(tenant: Tenant, key: VolumeKey): Promise<SnapshotView | undefined> {
    const { reservedId } = tenant;
    if (reservedId === undefined) return undefined;
    const snapshotId = asId<SnapshotId>(reservedId);
    const found = await tenant.read((sql) => findSnapshot(sql, { ...key, snapshotId }));
    return found === undefined ? undefined : snapshotView(found);
  }
}
