/**
 * Obstacles between one disk and the replica: all of them, not only the first rule that refused it; each with the
 * changes that would take it away. A disk with one obstacle is one change from being a place.
 */
import { type StorageDisk, type StorageNode, zoneKey } from '../../model/node.js';
import { diskAllowSchedulingFilter } from '../filters/disk-allow-scheduling.filter.js';
import { freeSpaceFilter } from '../filters/free-space.filter.js';
import { nodeSchedulableFilter } from '../filters/node-schedulable.filter.js';
import { provisionableSpaceFilter } from '../filters/provisionable-space.filter.js';
import type { CureChange } from '../framework/cure-change.js';
import type { FilterPlugin, PlacementCycle, Rule } from '../framework/framework.js';
import { type Occupancy, occupancyOf } from '../framework/occupancy.js';
import {
  diskAntiAffinityRule,
  nodeAntiAffinityRule,
  zoneAntiAffinityRule,
} from '../framework/sharing-rules.js';
import type { PlacementQuestion } from './placement-question.js';
import { spaceCures } from './space-cures.js';

/** What is in the way, and the changes of which any one removes it; none when nothing can. */
export type Obstacle = { readonly reason: string; readonly cures: readonly CureChange[] };

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
  const { nodeFilters, nodeTagFilters } = cycle.profile.rules;
  const refused = refusalsOf([...nodeFilters, ...nodeTagFilters], cycle);
  const refusedByFilters = refusalsOf(nodeFilters, cycle);
  const candidates = cycle.fleet.nodes.filter((node) => refusedByFilters(node).length === 0);
  const occupancy = occupancyOf(cycle, candidates);

  return (node) => {
    const refusals = refused(node);
    const isRefusedFor = (reason: string) => refusals.some((refusal) => refusal.reason === reason);
    // One rule judges both and speaks of the first; a user has to undo both.
    if ((isRefusedFor('NodeCordoned') || isRefusedFor('NodeDraining')) && node.evictionRequested)
      refusals.push({ rule: nodeSchedulableFilter, reason: 'NodeEvicting' });
    // The same agent is missing for both.
    const distinct = refusals.filter(
      ({ reason }) => reason !== 'EngineUnavailable' || !isRefusedFor('NodeNotReady'),
    );
    return [
      ...distinct.map((refusal) => obstacle(refusal, node, node, question)),
      ...sharingObstacles(node, occupancy, question, cycle),
    ];
  };
}

function diskObstaclesOf(question: PlacementQuestion, cycle: PlacementCycle): (place: Place) => Obstacle[] {
  const refused = refusalsOf(cycle.profile.rules.diskFilters, cycle);
  const { replicasByDisk } = occupancyOf(cycle, cycle.fleet.nodes);
  const isHard = cycle.request.diskAntiAffinity === 'required';

  return (place) => {
    const { node, disk } = place;
    const refusals = refused(disk);
    if (refusals.some(({ reason }) => reason === 'DiskSchedulingDisabled') && disk.evictionRequested)
      refusals.push({ rule: diskAllowSchedulingFilter, reason: 'DiskEvicting' });
    if (isHard && (replicasByDisk.get(disk.id) ?? 0) > 0)
      refusals.push({ rule: diskAntiAffinityRule, reason: 'DiskOccupied' });
    const ofSpace = refusals.filter(({ rule }) => SPACE_RULES.has(rule)).map(({ reason }) => reason);
    const obstacles = refusals
      .filter(({ rule }) => !SPACE_RULES.has(rule))
      .map((refusal) => obstacle(refusal, disk, node, question));
    // Bytes are freed in one go, whichever of the two formulas asks for them.
    const [firstOfSpace] = ofSpace;
    if (firstOfSpace !== undefined)
      obstacles.push({ reason: firstOfSpace, cures: spaceCures(place, ofSpace, cycle) });
    return obstacles;
  };
}

/** The two formulas about space, whose cures are amounts that both have to agree to. */
const SPACE_RULES: ReadonlySet<unknown> = new Set([freeSpaceFilter, provisionableSpaceFilter]);

/** A rule that refused, and for which of its reasons. */
type Refusal<Subject> = { readonly rule: Rule<Subject>; readonly reason: string };

function obstacle<Subject>(
  { rule, reason }: Refusal<Subject>,
  subject: Subject,
  node: StorageNode,
  { volume }: PlacementQuestion,
): Obstacle {
  return { reason, cures: rule.reasons[reason]?.cures?.(subject, { node, spec: volume.spec }) ?? [] };
}

/** The anti-affinity tiers, put as what each hard domain forbids (see `tiers.ts`). */
function sharingObstacles(
  node: StorageNode,
  occupancy: Occupancy,
  question: PlacementQuestion,
  { request, profile }: PlacementCycle,
): Obstacle[] {
  const { nodes, zones, leavingNodes, leavingZones } = occupancy;
  const isZoneHard = request.zoneAntiAffinity === 'required';
  const isZoneLeaving = leavingZones.has(zoneKey(node));
  const isLeaving = leavingNodes.has(node.id) && (!isZoneHard || isZoneLeaving);
  if (isLeaving) return [];

  const obstacles: Obstacle[] = [];
  if (request.nodeAntiAffinity === 'required' && nodes.has(node.id))
    obstacles.push(obstacle({ rule: nodeAntiAffinityRule, reason: 'NodeOccupied' }, node, node, question));
  const isOpenZone = isZoneLeaving && profile.unusedNodeInLeavingZone;
  if (isZoneHard && zones.has(zoneKey(node)) && !isOpenZone)
    obstacles.push(obstacle({ rule: zoneAntiAffinityRule, reason: 'ZoneOccupied' }, node, node, question));
  return obstacles;
}

/** All rules that refuse a node or disk, each with its reason, in the order of the rules. */
function refusalsOf<Subject>(
  plugins: readonly FilterPlugin<Subject>[],
  cycle: PlacementCycle,
): (subject: Subject) => Refusal<Subject>[] {
  const prepared = plugins.map((rule) => ({ rule, check: rule.prepare(cycle) }));
  return (subject) =>
    prepared.flatMap(({ rule, check }) => {
      const reason = check?.(subject)?.reason;
      return reason === undefined ? [] : [{ rule, reason }];
    });
}
