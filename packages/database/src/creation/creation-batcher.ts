import type { VolumeCreations } from '@holdfast/control/ports/volume-creations.js';
import { type DecideCreation, decideCreation } from '@holdfast/core/lifecycle/decide-creation.js';
import type { ClusterId, OrganizationId } from '@holdfast/core/model/ids.js';
import type { AuditEntry } from '../queries/audit.js';
import type { Scope } from '../sql/scope.js';
import { ClusterBatcher, type CreationTiming } from './cluster-batcher.js';

/** Clusters whose fleets are cached at once. A fleet of 1,000 disks takes about 1 MB. */
const FLEETS_MAX = 50;

export type CreationCaller = {
  organizationId: OrganizationId;
  /** Audit entry of the volume. */
  audit?: () => AuditEntry;
  /** Names the span of its request, in whose trace the volume is made. */
  traceparent?: string | undefined;
  /** Called with where the time of a creation went. */
  onTiming?: (timing: CreationTiming) => void;
};

/** All creations of one process, by a batcher per cluster: those of a cluster share transactions and a fleet cache. */
export class CreationBatcher {
  /** By organization and cluster: a caller that names another organization's cluster gets a batcher that finds nothing. */
  private readonly batchers = new Map<string, ClusterBatcher>();

  constructor(
    private readonly scopeOf: (organizationId: OrganizationId) => Scope,
    private readonly decide: DecideCreation = decideCreation,
  ) {}

  /** The port for one caller. */
  for({ organizationId, audit, traceparent, onTiming }: CreationCaller): VolumeCreations {
    return {
      create: async (request) => {
        const batcher = this.batcher(organizationId, request.clusterId);
        const { volume, timing } = await batcher.create(request, { audit, traceparent });
        onTiming?.(timing);
        return volume;
      },
    };
  }

  private batcher(organizationId: OrganizationId, clusterId: ClusterId): ClusterBatcher {
    const key = `${organizationId} ${clusterId}`;
    const known = this.batchers.get(key);
    if (known !== undefined) return known;
    if (this.batchers.size >= FLEETS_MAX) this.evictIdle();
    const batcher = new ClusterBatcher(
      this.scopeOf(organizationId),
      { organizationId, clusterId },
      this.decide,
    );
    this.batchers.set(key, batcher);
    return batcher;
  }

  /** Evicting is safe: a new batcher reads the whole fleet again. */
  private evictIdle(): void {
    for (const [key, batcher] of this.batchers) if (batcher.isIdle) this.batchers.delete(key);
  }
}
