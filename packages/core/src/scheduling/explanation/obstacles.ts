/**
 * Obstacles between one disk and the replica: all of them, not only the first rule that refused it; each with the
 * changes that would take it away. A disk with one obstacle is one change from being a place.
 */
import { type StorageDisk, type StorageNode, zoneKey } from '../../model/node.js';
import type { Override } from '../../model/volume.js';
import type { FilterPlugin, PlacementCycle, RejectionReason } from '../framework.js';
import { type Occupancy, occupancyOf } from '../occupancy.js';
import type { CureChange, OverrideField } from './cure-change.js';
import { missingTagCures } from './missing-tags.js';
import type { PlacementQuestion } from './placement-question.js';
import { spaceCures } from './space-cures.js';

/** What is in the way, and the changes of which any one removes it; none when nothing can. */
export type Obstacle = { readonly reason: RejectionReason; readonly cures: readonly CureChange[] };

export type ObstructedDisk = {
  readonly node: StorageNode;
  readonly disk: StorageDisk;
  readonly obstacles: readonly Obstacle[];
};

type Place = { readonly node: StorageNode; readonly disk: StorageDisk };

/** All disks of the fleet, in its order, less those on which no change of what is there can help. */
export function obstructedDisks(question: PlacementQuestion, cycle: PlacementCycle): ObstructedDisk[] {
  const nodeObstacles = nodeObstaclesOf(question, cycle);
  const diskObstacles = diskObstaclesOf(question, cycle);
  return cycle.fleet.nodes.flatMap((node) => {
    const ofNode = nodeObstacles(node);
    if (ofNode.some(({ cures }) => cures.length === 0)) return [];
    return (cycle.disksByNode.get(node.id) ?? []).flatMap((disk) => {
      const obstacles = [...ofNode, ...diskObstacles({ node, disk })];
      return obstacles.some(({ cures }) => cures.length === 0) ? [] : [{ node, disk, obstacles }];
    });
  });
}

/** What is wrong with a node itself, apart from its disks. */
export function nodeObstaclesOf(
  question: PlacementQuestion,
  cycle: PlacementCycle,
): (node: StorageNode) => Obstacle[] {
  const checks = prepared([...cycle.profile.rules.nodeFilters, ...cycle.profile.rules.nodeTagFilters], cycle);
  const passing = prepared(cycle.profile.rules.nodeFilters, cycle);
  const candidates = cycle.fleet.nodes.filter((node) => passing.every((check) => check(node) === undefined));
  const occupancy = occupancyOf(cycle, candidates);

  return (node) => {
    const reasons = checks.map((check) => check(node)?.reason).filter((reason) => reason !== undefined);
    // One rule judges both and speaks of the first; a user has to undo both.
    if (reasons.includes('NodeCordoned') && node.evictionRequested) reasons.push('NodeEvicting');
    // The same agent is missing for both.
    const distinct = reasons.filter(
      (reason) => reason !== 'EngineUnavailable' || !reasons.includes('NodeNotReady'),
    );
    return [
      ...distinct.map((reason) => ({ reason, cures: nodeCures(reason, node, question) })),
      ...sharingObstacles(node, occupancy, question, cycle),
    ];
  };
}

function diskObstaclesOf(question: PlacementQuestion, cycle: PlacementCycle): (place: Place) => Obstacle[] {
  const checks = prepared(cycle.profile.rules.diskFilters, cycle);
  const { replicasByDisk } = occupancyOf(cycle, cycle.fleet.nodes);
  const isHard = cycle.request.diskAntiAffinity === 'required';

  return (place) => {
    const { disk } = place;
    const reasons = checks.map((check) => check(disk)?.reason).filter((reason) => reason !== undefined);
    if (reasons.includes('DiskSchedulingDisabled') && disk.evictionRequested) reasons.push('DiskEvicting');
    const isSpace = (reason: RejectionReason) => reason.startsWith('Insufficient');
    const ofSpace = reasons.filter(isSpace);
    const obstacles = reasons
      .filter((reason) => !isSpace(reason))
      .map((reason) => ({ reason, cures: diskCures(reason, place, question) }));
    // Bytes are freed in one go, whichever of the two formulas asks for them.
    const [firstOfSpace] = ofSpace;
    if (firstOfSpace !== undefined)
      obstacles.push({ reason: firstOfSpace, cures: spaceCures(place, ofSpace, cycle) });
    if (isHard && (replicasByDisk.get(disk.id) ?? 0) > 0)
      obstacles.push({ reason: 'DiskOccupied', cures: sharingCures('disk', question) });
    return obstacles;
  };
}

function nodeCures(
  reason: RejectionReason,
  node: StorageNode,
  question: PlacementQuestion,
): readonly CureChange[] {
  const named = { nodeId: node.id, nodeName: node.name };
  switch (reason) {
    case 'NodeNotReady':
    case 'EngineUnavailable':
      return [{ kind: 'start-agent', ...named }];
    case 'NodeCordoned':
      return [
        { kind: 'uncordon-node', ...named },
        { kind: 'set-setting', setting: 'disable-scheduling-on-cordoned-node', from: true, to: false },
      ];
    case 'NodeSchedulingDisabled':
      return [{ kind: 'enable-node-scheduling', ...named }];
    case 'NodeEvicting':
      return [{ kind: 'cancel-node-eviction', ...named }];
    case 'NodeTagsMissing':
      return missingTagCures(question, {
        tags: node.tags,
        selector: 'nodeSelector',
        setting: 'allow-empty-node-selector-volume',
        tagIt: (tags) => ({ kind: 'tag-node', tags, ...named }),
      });
    default:
      return [];
  }
}

function diskCures(
  reason: RejectionReason,
  { node, disk }: Place,
  question: PlacementQuestion,
): readonly CureChange[] {
  const named = { nodeId: node.id, nodeName: node.name, diskId: disk.id, diskName: disk.name };
  switch (reason) {
    case 'DiskNotReady':
      return [{ kind: 'repair-disk', ...named }];
    case 'DiskSchedulingDisabled':
      return [{ kind: 'enable-disk-scheduling', ...named }];
    case 'DiskEvicting':
      return [{ kind: 'cancel-disk-eviction', ...named }];
    case 'DiskTagsMissing':
      return missingTagCures(question, {
        tags: disk.tags,
        selector: 'diskSelector',
        setting: 'allow-empty-disk-selector-volume',
        tagIt: (tags) => ({ kind: 'tag-disk', tags, ...named }),
      });
    default:
      return [];
  }
}

/** The anti-affinity tiers, put as what each hard domain forbids (see `tiers.ts`). */
function sharingObstacles(
  node: StorageNode,
  occupancy: Occupancy,
  question: PlacementQuestion,
  { request }: PlacementCycle,
): Obstacle[] {
  const { nodes, zones, leavingNodes, leavingZones } = occupancy;
  const isZoneHard = request.zoneAntiAffinity === 'required';
  const isLeaving = leavingNodes.has(node.id) && (!isZoneHard || leavingZones.has(zoneKey(node)));
  if (isLeaving) return [];

  const obstacles: Obstacle[] = [];
  if (request.nodeAntiAffinity === 'required' && nodes.has(node.id))
    obstacles.push({ reason: 'NodeOccupied', cures: sharingCures('node', question) });
  if (isZoneHard && zones.has(zoneKey(node)))
    obstacles.push({ reason: 'ZoneOccupied', cures: sharingCures('zone', question) });
  return obstacles;
}

const SHARING = {
  node: { field: 'replicaSoftAntiAffinity', setting: 'replica-soft-anti-affinity' },
  zone: { field: 'replicaZoneSoftAntiAffinity', setting: 'replica-zone-soft-anti-affinity' },
  disk: { field: 'replicaDiskSoftAntiAffinity', setting: 'replica-disk-soft-anti-affinity' },
} as const;

function sharingCures(domain: keyof typeof SHARING, { volume }: PlacementQuestion): CureChange[] {
  const { field, setting } = SHARING[domain];
  const override = overrideOf(field, volume.spec);
  if (override === 'enabled') return [];
  const cures: CureChange[] = [{ kind: 'set-override', field, from: override, to: 'enabled' }];
  // The setting says nothing to a volume that has its own answer.
  if (override === 'ignored') cures.push({ kind: 'set-setting', setting, from: false, to: true });
  return cures;
}

function overrideOf(field: OverrideField, spec: PlacementQuestion['volume']['spec']): Override {
  return spec[field];
}

function prepared<Subject>(plugins: readonly FilterPlugin<Subject>[], cycle: PlacementCycle) {
  return plugins.map((plugin) => plugin.prepare(cycle)).filter((check) => check !== undefined);
}
