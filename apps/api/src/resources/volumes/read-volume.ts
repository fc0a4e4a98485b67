import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, VolumeId } from '@holdfast/core/model/ids.js';
import { findVolume, type VolumeWithReplicas } from '@holdfast/database/queries/volumes.js';
import type { Tenant } from '../../access/tenant.js';

export type VolumeKey = { clusterId: ClusterId; volumeId: VolumeId };

/** @throws StorageFault `volume.not_found`, also for the id of another cluster's volume */
export async function readVolume(tenant: Tenant, key: VolumeKey): Promise<VolumeWithReplicas> {
  const found = await tenant.read((sql) => findVolume(sql, key));
  if (found === undefined) throw volumeNotFound(key.volumeId);
  return found;
}

export function volumeNotFound(volumeId: VolumeId): StorageFault {
  return new StorageFault('volume.not_found', { publicMessage: `there is no volume ${volumeId}` });
}
