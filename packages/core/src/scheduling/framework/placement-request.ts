/** Placement request: what one replica that wants a disk asks for, as the rules read it; made of its volume and the settings. */
import type { DiskId, NodeId } from '../../model/ids.js';
import type { DataEngine } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';
import type { DiskChoice, Override, TopologyTerm, Volume, VolumeSpec } from '../../model/volume.js';
import { holderOf, isRepairing } from '../../model/volume-lifecycle.js';
import type { LonghornInputs } from './longhorn-inputs.js';

/** May two replicas share a failure domain? `preferred`: only when nothing better exists. */
export type AntiAffinity = 'required' | 'preferred';

/** A replica that wants a disk, and what of its volume matters for the choice. */
export type PlacementRequest = {
  readonly sizeBytes: number;
  /** What the new replica will hold at once: the volume's written bytes, 0 for a new volume. */
  readonly writtenBytes: number;
  readonly dataEngine: DataEngine;
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
  readonly nodeAntiAffinity: AntiAffinity;
  readonly zoneAntiAffinity: AntiAffinity;
  readonly diskAntiAffinity: AntiAffinity;
  /** Absent: `spread`, which is all that Longhorn knows. */
  readonly diskChoice?: DiskChoice;
  /** The volume's other replicas. */
  readonly replicas: readonly Replica[];
  /** The only node allowed (a pinned replica). */
  readonly requiredNodeId: NodeId | undefined;
  /** Preferred when it is in the winning tier (best-effort data locality). */
  readonly localNodeId: NodeId | undefined;
  /** Any one of them has to match; empty allows all. */
  readonly topology: readonly TopologyTerm[];
  /** Reuse of a failed replica: the one disk that holds it. Its space is booked already and is not checked. */
  readonly reuseDiskId: DiskId | undefined;
  /** Booked on a disk since its figures were taken: counts against its limit, and not in the balance. */
  readonly unrecordedBytes?: ReadonlyMap<DiskId, number>;
  /** Only for a volume of an imported Longhorn cluster. */
  readonly longhorn?: LonghornInputs;
};

/** What of a volume its placement depends on. */
export type PlaceableVolume = Pick<Volume, 'spec' | 'writtenBytes' | 'lifecycle' | 'grantedTags'>;

/** The request for one more replica of a volume beside those it has. */
export function placementRequest(
  volume: PlaceableVolume,
  replicas: readonly Replica[],
  fleet: Pick<FleetView, 'settings'>,
): PlacementRequest {
  const { spec, grantedTags } = volume;
  const { settings } = fleet;
  return {
    sizeBytes: spec.sizeBytes,
    writtenBytes: volume.writtenBytes,
    dataEngine: spec.dataEngine,
    nodeSelector: demanded(spec.nodeSelector, grantedTags?.nodeTags),
    diskSelector: demanded(spec.diskSelector, grantedTags?.diskTags),
    nodeAntiAffinity: antiAffinity(spec.replicaSoftAntiAffinity, settings['replica-soft-anti-affinity']),
    zoneAntiAffinity: isInOneZone(spec.topologyRequirement)
      ? 'preferred'
      : antiAffinity(spec.replicaZoneSoftAntiAffinity, settings['replica-zone-soft-anti-affinity']),
    diskAntiAffinity: antiAffinity(
      spec.replicaDiskSoftAntiAffinity,
      settings['replica-disk-soft-anti-affinity'],
    ),
    diskChoice: diskChoice(spec.replicaDiskChoice, settings['replica-disk-choice']),
    replicas,
    // A volume that is not attached has no node to be local to: it is attached where its replica is. The worker's own
    // attachment serves no user.
    requiredNodeId:
      spec.dataLocality === 'strict-local' && !isRepairing(volume) ? holderOf(volume) : undefined,
    localNodeId: spec.dataLocality === 'best-effort' ? holderOf(volume) : undefined,
    topology: spec.topologyRequirement,
    reuseDiskId: undefined,
  };
}

/** What the volume's users want, and what its grant demands as well. */
export function demanded(selector: readonly string[], granted: readonly string[] = []): readonly string[] {
  return granted.length === 0 ? selector : [...new Set([...selector, ...granted])].sort();
}

/** Then its copies have to share that zone, whatever else is said of zones, as in Longhorn. */
export function isInOneZone(terms: readonly TopologyTerm[]): boolean {
  const zones = new Set(terms.map(({ zone }) => zone));
  return zones.size === 1 && !zones.has(undefined);
}

export function antiAffinity(override: Override, softBySetting: boolean): AntiAffinity {
  const isSoft = override === 'ignored' ? softBySetting : override === 'enabled';
  return isSoft ? 'preferred' : 'required';
}

function diskChoice(override: VolumeSpec['replicaDiskChoice'], bySetting: DiskChoice): DiskChoice {
  return override === undefined || override === 'ignored' ? bySetting : override;
}
