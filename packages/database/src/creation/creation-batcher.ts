import type { VolumeCreations } from '@holdfast/control/ports/volume-creations.js';
import type { ClusterId, OrganizationId } from '@holdfast/core/model/ids.js';
import type { AuditEntry } from '../queries/audit.js';
import type { Scope } from '../sql/scope.js';
import { ClusterBatcher, type CreationTiming } from './cluster-batcher.js';

/** Clusters whose fleets are remembered at once. A fleet of 1,000 disks takes about 1 MB. */
const FLEETS_MAX = 50;

export type CreationCaller = {
  organizationId: OrganizationId;
  /** What goes into the audit log with the volume. */
  audit?: () => AuditEntry;
  /** Told where the time of a creation went. */
  onTiming?: (timing: CreationTiming) => void;
};

/** Where one process makes all its volumes, so that those of one cluster share a view of the fleet and transactions. */
export class CreationBatcher {
  /** By organization and cluster: who names another's cluster gets a queue that finds nothing. */
  readonly #queues = new Map<string, ClusterBatcher>();

  constructor(private readonly scopeOf: (organizationId: OrganizationId) => Scope) {}

  /** The port for one caller. */
  for({ organizationId, audit, onTiming }: CreationCaller): VolumeCreations {
    return {
      create: async (clusterId, decide) => {
        const { volume, timing } = await this.#queue(organizationId, clusterId).create(decide, audit);
        onTiming?.(timing);
        return volume;
      },
    };
  }

  #queue(organizationId: OrganizationId, clusterId: ClusterId): ClusterBatcher {
    const key = `${organizationId} ${clusterId}`;
    const known = this.#queues.get(key);
    if (known !== undefined) return known;
    if (this.#queues.size >= FLEETS_MAX) this.#forgetIdle();
    const queue = new ClusterBatcher(this.scopeOf(organizationId), { organizationId, clusterId });
    this.#queues.set(key, queue);
    return queue;
  }

  /** What is remembered saves work and is never needed. */
  #forgetIdle(): void {
    for (const [key, queue] of this.#queues) if (queue.isIdle) this.#queues.delete(key);
  }
}
