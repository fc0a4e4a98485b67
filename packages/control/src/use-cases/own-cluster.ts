import { StorageFault } from '@holdfast/core/model/faults.js';
import type { Volume } from '@holdfast/core/model/volume.js';

/**
 * Refuses requests that name or choose places of a cluster for a volume that is there by a grant only.
 *
 * @throws StorageFault `auth.forbidden`
 */
export function assertOwnCluster({ grantedTags }: Pick<Volume, 'grantedTags'>): void {
  if (grantedTags === undefined) return;
  throw new StorageFault('auth.forbidden', {
    publicMessage: "the cluster is another organization's, which chooses the places of copies in it",
    cures: ["ask an admin of the cluster's organization"],
  });
}
