import { StorageFault } from '@holdfast/core/model/faults.js';
import type { SnapshotId } from '@holdfast/core/model/ids.js';
import { findSnapshot } from '@holdfast/database/queries/snapshots.js';
import type { Tenant } from '../../access/tenant.js';
import type { VolumeKey } from '../volumes/read-volume.js';

export type SnapshotKey = VolumeKey & { snapshotId: SnapshotId };

/** @throws StorageFault `snapshot.not_found` */
export async function readSnapshot(tenant: Tenant, key: SnapshotKey) {
  const found = await tenant.read((sql) => findSnapshot(sql, key));
  if (found !== undefined) return found;
  throw new StorageFault('snapshot.not_found', { publicMessage: `there is no snapshot ${key.snapshotId}` });
}
