import { requestSnapshot, requestSnapshotDeletion } from '@holdfast/control/use-cases/snapshots.js';
import { asId, type SnapshotId } from '@holdfast/core/model/ids.js';
import { type ListRequest, mapPage, type Page } from '@holdfast/database/queries/list-rows.js';
import { findSnapshot, listSnapshots } from '@holdfast/database/queries/snapshots.js';
import { findVolume } from '@holdfast/database/queries/volumes.js';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../../access/tenant.js';
import { readVolume, type VolumeKey, volumeNotFound } from '../volumes/read-volume.js';
import { readSnapshot, type SnapshotKey } from './read-snapshot.js';
import { type SnapshotView, snapshotView } from './snapshot.view.js';

/** Operations on a volume's snapshots. REST and GraphQL are two thin adapters over it. */
@Injectable()
export class SnapshotsService {
  list(tenant: Tenant, key: VolumeKey, request: ListRequest): Promise<Page<SnapshotView>> {
    return tenant.read(async (sql) => {
      if ((await findVolume(sql, key)) === undefined) throw volumeNotFound(key.volumeId);
      return mapPage(await listSnapshots(sql, key, request), snapshotView);
    });
  }

  async get(tenant: Tenant, key: SnapshotKey): Promise<SnapshotView> {
    return snapshotView(await readSnapshot(tenant, key));
  }

  async create(tenant: Tenant, key: VolumeKey, name: string | undefined): Promise<SnapshotView> {
    await readVolume(tenant, key);
    const earlier = await this.takenEarlier(tenant, key);
    if (earlier !== undefined) return earlier;
    const snapshotId = await requestSnapshot(tenant.volumePorts, {
      volumeId: key.volumeId,
      name: name ?? tenant.now.toISOString(),
    });
    return this.get(tenant, { ...key, snapshotId });
  }

  /** The snapshot after the request, or as it was if it is removed at once. */
  async delete(tenant: Tenant, key: SnapshotKey): Promise<SnapshotView> {
    const before = await this.get(tenant, key);
    await requestSnapshotDeletion(tenant.volumePorts, key);
    const found = await tenant.read((sql) => findSnapshot(sql, key));
    return found === undefined ? { ...before, state: 'removing' } : snapshotView(found);
  }

  /** The snapshot of an earlier try of this request, whose process died before it could answer. */
  private async takenEarlier(tenant: Tenant, key: VolumeKey): Promise<SnapshotView | undefined> {
    const { reservedId } = tenant;
    if (reservedId === undefined) return undefined;
    const snapshotId = asId<SnapshotId>(reservedId);
    const found = await tenant.read((sql) => findSnapshot(sql, { ...key, snapshotId }));
    return found === undefined ? undefined : snapshotView(found);
  }
}
