/**
 * Invariants of a placement, checked against the fleet of its moment: when limits, labels or switches change later, the
 * placement stays valid. Each finding is a sentence.
 *
 * Written apart from the rules that place replicas, so that an error there is not repeated here.
 */
import type { SpaceBooking } from '../model/changes.js';
import type { NodeId, ReplicaId } from '../model/ids.js';
import { isNodeReady, type StorageDisk, type StorageNode } from '../model/node.js';
import { isPotentiallyReusable, type Replica } from '../model/replica.js';
import type { FleetView } from '../model/views.js';
import type { Override, Volume, VolumeSpec } from '../model/volume.js';

export type PlacementEvent = {
  /** As it was just before: with the bookings that came before this one, without this one. */
  readonly fleet: FleetView;
  readonly volume: Pick<Volume, 'name' | 'spec' | 'grantedTags'>;
  /** The volume's other replicas. */
  readonly others: readonly Replica[];
  /** The one among them that goes when this one is a full copy. */
  readonly replacesId?: ReplicaId | undefined;
  readonly nodeId: NodeId;
  /** `undefined` when none was made, which is a finding. */
  readonly booking: SpaceBooking | undefined;
  readonly now: Date;
};

export function checkPlacement(event: PlacementEvent): string[] {
  const { fleet, volume, nodeId, booking } = event;
  const subject = `a replica of ${volume.name}`;
  if (booking === undefined) return [`${subject} was placed without a booking`];
  const node = fleet.nodes.find(({ id }) => id === nodeId);
  const disk = fleet.disks.find(({ id }) => id === booking.diskId);
  if (node === undefined || disk === undefined || disk.nodeId !== nodeId) {
    return [
      `${subject} was placed on disk ${booking.diskId} of node ${nodeId}, which the fleet does not have`,
    ];
  }
  return [
    ...bookingFindings(disk, booking, fleet),
    ...switchFindings(node, disk, fleet),
    ...selectorFindings(node, disk, volume, fleet),
    ...domainFindings(node, disk, event),
  ].map((finding) => `${subject} was placed on disk ${disk.name} of ${node.name} ${finding}`);
}

export type GrowthEvent = {
  /** As it was just before. */
  readonly fleet: FleetView;
  readonly volume: Pick<Volume, 'name'> & { readonly spec: Pick<Volume['spec'], 'sizeBytes'> };
  /** New size of the replica. */
  readonly sizeBytes: number;
  readonly booking: SpaceBooking;
};

/**
 * A growing replica is booked within the limit of its disk too. Released space needs no room, and neither does data that is on the
 * disk already: a replica of a volume whose size was read from its copies (docs/design/current-copies.md).
 */
export function checkGrowth({ fleet, volume, sizeBytes, booking }: GrowthEvent): string[] {
  const disk = fleet.disks.find(({ id }) => id === booking.diskId);
  if (disk === undefined)
    return [`volume ${volume.name} grows on disk ${booking.diskId}, which the fleet does not have`];
  if (booking.sizeBytes <= 0 || sizeBytes <= volume.spec.sizeBytes) return [];
  return bookingFindings(disk, booking, fleet).map(
    (finding) => `volume ${volume.name} grows on disk ${disk.name} ${finding}`,
  );
}

/** No booking past the limit that was in force when it was made. */
function bookingFindings(
  disk: StorageDisk,
  { sizeBytes, limitBytes }: SpaceBooking,
  { settings }: FleetView,
): string[] {
  const percentage = settings['storage-over-provisioning-percentage'];
  const limit = Math.trunc(((disk.storageMaximumBytes - disk.storageReservedBytes) * percentage) / 100);
  const bookedBytes = disk.storageScheduledBytes + sizeBytes;
  return [
    ...(bookedBytes > limit ? [`that is booked to ${bookedBytes} bytes then, its limit is ${limit}`] : []),
    ...(limitBytes > limit ? [`against a limit of ${limitBytes} bytes, in force is ${limit}`] : []),
  ];
}

/** No new replica on a place that users have closed. */
function switchFindings(node: StorageNode, disk: StorageDisk, { settings }: FleetView): string[] {
  const mindsCordon = settings['disable-scheduling-on-cordoned-node'];
  return [
    ...(node.cordoned && mindsCordon ? ['that is cordoned'] : []),
    ...(node.drain === undefined ? [] : ['that is drained']),
    ...(node.maintenance === undefined ? [] : ['that is in maintenance']),
    ...(node.evictionRequested ? ['that is being emptied'] : []),
    ...(node.allowScheduling ? [] : ['whose scheduling is off']),
    ...(disk.evictionRequested ? ['while the disk is being emptied'] : []),
    ...(disk.allowScheduling ? [] : ["while the disk's scheduling is off"]),
  ];
}

function selectorFindings(
  node: StorageNode,
  disk: StorageDisk,
  { spec, grantedTags }: PlacementEvent['volume'],
  { settings }: FleetView,
): string[] {
  const nodeSelector = [...spec.nodeSelector, ...(grantedTags?.nodeTags ?? [])];
  const diskSelector = [...spec.diskSelector, ...(grantedTags?.diskTags ?? [])];
  const matches = (tags: readonly string[], selector: readonly string[], emptyMatchesAll: boolean) =>
    selector.length === 0
      ? emptyMatchesAll || tags.length === 0
      : selector.every((tag) => tags.includes(tag));
  const nodeMatches = matches(node.tags, nodeSelector, settings['allow-empty-node-selector-volume']);
  const diskMatches = matches(disk.tags, diskSelector, settings['allow-empty-disk-selector-volume']);
  return [
    ...(nodeMatches ? [] : [`against the node selector [${nodeSelector.join(', ')}]`]),
    ...(diskMatches ? [] : [`against the disk selector [${diskSelector.join(', ')}]`]),
    ...(isInTopology(node, spec) ? [] : ['outside the required topology']),
  ];
}

function isInTopology({ zone, region }: StorageNode, { topologyRequirement: terms }: VolumeSpec): boolean {
  const fits = (wanted: string | undefined, has: string | undefined) =>
    wanted === undefined || wanted === has;
  return terms.length === 0 || terms.some((term) => fits(term.zone, zone) && fits(term.region, region));
}

/** No second replica in a domain that the volume says must not be shared. */
function domainFindings(node: StorageNode, disk: StorageDisk, event: PlacementEvent): string[] {
  const { fleet, volume, others } = event;
  const { spec } = volume;
  const { settings } = fleet;
  const isHard = (override: Override, soft: boolean) =>
    override === 'disabled' || (override === 'ignored' && !soft);
  const staying = others.filter((replica) => staysAt(replica, event));
  const zoneOf = (id: NodeId | undefined) => fleet.nodes.find((one) => one.id === id)?.zone;

  const sharesNode = staying.some(({ nodeId }) => nodeId === node.id);
  const sharesZone = staying.some(({ nodeId }) => nodeId !== undefined && zoneOf(nodeId) === node.zone);
  const sharesDisk = others.some(
    (replica) =>
      replica.diskId === disk.id && (replica.failedAt === undefined || isPotentiallyReusable(replica)),
  );
  const nodeIsHard = isHard(spec.replicaSoftAntiAffinity, settings['replica-soft-anti-affinity']);
  const zoneIsHard =
    isHard(spec.replicaZoneSoftAntiAffinity, settings['replica-zone-soft-anti-affinity']) &&
    !hasOneZoneOnly(spec);
  const diskIsHard = isHard(spec.replicaDiskSoftAntiAffinity, settings['replica-disk-soft-anti-affinity']);
  return [
    ...(sharesNode && nodeIsHard ? ['although the node holds another and may not be shared'] : []),
    ...(sharesZone && zoneIsHard ? ['although its zone holds another and may not be shared'] : []),
    ...(sharesDisk && diskIsHard ? ['although the disk holds another and may not be shared'] : []),
  ];
}

/** A volume that has to be in one zone can't have its copies in several. */
export function hasOneZoneOnly({ topologyRequirement: [first, ...others] }: Volume['spec']): boolean {
  return first?.zone !== undefined && others.every(({ zone }) => zone === first.zone);
}

/** Will the replica still be there once everything that is under way has been done? */
function staysAt(replica: Replica, { fleet, others, now, replacesId }: PlacementEvent): boolean {
  if (replica.nodeId === undefined || replica.intent !== 'keep' || replica.id === replacesId) return false;
  const isEmptied =
    fleet.nodes.some(({ id, evictionRequested }) => id === replica.nodeId && evictionRequested) ||
    fleet.disks.some(({ id, evictionRequested }) => id === replica.diskId && evictionRequested);
  if (isEmptied || isDrained(replica, fleet, others)) return false;
  if (replica.failedAt === undefined) return true;
  const waitMs = fleet.settings['replica-replenishment-wait-interval'] * 1000;
  return isPotentiallyReusable(replica) && replica.failedAt.getTime() + waitMs > now.getTime();
}

/** Does a drain move it? One that spares copies moves what no other node holds in full that is up and stays so. */
function isDrained(replica: Replica, { nodes }: FleetView, copies: readonly Replica[]): boolean {
  const drain = nodes.find(({ id }) => id === replica.nodeId)?.drain;
  if (drain === undefined || drain.policy === 'block-for-eviction') return drain !== undefined;
  if (drain.policy !== 'block-for-eviction-if-contains-last-replica') return false;
  const lasting = nodes.filter(
    (node) =>
      isNodeReady(node) && !node.cordoned && node.drain === undefined && node.maintenance === undefined,
  );
  const isHeldElsewhere = copies.some(
    (copy) =>
      copy.nodeId !== replica.nodeId &&
      copy.intent !== 'remove' &&
      copy.healthyAt !== undefined &&
      copy.failedAt === undefined &&
      lasting.some(({ id }) => id === copy.nodeId),
  );
  return !isHeldElsewhere || (replica.healthyAt ?? replica.lastHealthyAt) === undefined;
}
