/**
 * Placement decision over the index: the same tiers as `placeReplica`, with searches where that looks at every disk.
 *
 * | tier | how |
 * |---|---|
 * | unused node in unused zone, unused node in leaving zone, unused node | branch and bound over the groups' tournaments |
 * | leaving node in leaving zone, leaving node, used node | the few nodes that hold replicas, disk by disk |
 * | with a pinned or a local node | that node, disk by disk |
 * | only disks left that hold replicas of the volume | their nodes, disk by disk |
 */
import type { DiskId, NodeId } from '../../model/ids.js';
import type { ZoneKey } from '../../model/node.js';
import { PLACEMENT_RULES } from '../filters/rules.js';
import type { TierName } from '../framework/framework.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { preferredNodeId } from '../tiers/locality.js';
import { DiskChooser } from './disk-chooser.js';
import type { FleetStructure } from './fleet-structure.js';
import { HybridSearch } from './hybrid-search.js';
import type { NodeEntry } from './node-entry.js';
import { OccupiedPlaces } from './occupied-places.js';
import type { PlanMember, RequestPlan } from './request-plan.js';
import { type SearchDemand, SpaceSearch } from './space-search.js';

export type FastPlacement =
  | { readonly kind: 'placed'; readonly nodeId: NodeId; readonly diskId: DiskId; readonly tier: TierName }
  | { readonly kind: 'none' };

const NONE: FastPlacement = { kind: 'none' };

/** Zones of a tier of unused nodes, by whether the volume's replicas occupy them. */
type ZoneUse = 'unused' | 'leaving' | 'any';

/** One request, with what of the fleet it may use. */
type Question = {
  readonly request: PlacementRequest;
  readonly plan: RequestPlan;
};

/** Asked before each decision: does a rule that the index does not keep concern the request? Rare by nature. */
const UNINDEXED = [
  ...PLACEMENT_RULES.nodeFilters,
  ...PLACEMENT_RULES.nodeTagFilters,
  ...PLACEMENT_RULES.diskFilters,
].flatMap(({ inIndex }) => (typeof inIndex === 'object' ? [inIndex] : []));

/** Holds what one decision after the other uses again; nothing of it outlives a decision. */
export class FastPlacer {
  private readonly places = new OccupiedPlaces();
  private readonly members: PlanMember[] = [];
  private readonly demand: SearchDemand;
  private readonly search: SpaceSearch;
  private readonly hybrid: HybridSearch;
  private readonly chooser: DiskChooser;

  constructor(private readonly structure: FleetStructure) {
    const { nodes: hiddenNodes, slots: hiddenSlots } = this.places;
    this.demand = { sizeBytes: 0, writtenBytes: 0, isWanted: new Uint8Array(0), hiddenNodes, hiddenSlots };
    this.search = new SpaceSearch(structure.columns, structure.diskIds, this.demand);
    this.hybrid = new HybridSearch(this.search, this.demand, structure.nodeBySlot);
    this.chooser = new DiskChooser(structure, this.search, this.places);
  }

  place(request: PlacementRequest, now: Date): FastPlacement {
    // Of an imported cluster, or one that a rule leaves out of the index: `placeReplica` answers these.
    if (request.longhorn !== undefined || request.unrecordedBytes !== undefined) return NONE;
    if (UNINDEXED.some((rule) => rule.concerns(request))) return NONE;
    const { structure, places, demand } = this;
    const plan = structure.plan(request, now);
    places.read(request.replicas, structure.settings['replica-replenishment-wait-interval'], now, structure);
    demand.sizeBytes = request.sizeBytes;
    demand.writtenBytes = request.writtenBytes;
    demand.isWanted = plan.isWanted;
    return this.walkTiers({ request, plan });
  }

  private walkTiers(question: Question): FastPlacement {
    const { places } = this;
    const { zoneAntiAffinity, nodeAntiAffinity } = question.request;
    const best = this.unusedTier(question, 'unused');
    if (best !== undefined) return this.placed(best, 'unused-node-in-unused-zone');
    if (zoneAntiAffinity === 'required') {
      const beside = places.hasLeavingZone() ? this.unusedTier(question, 'leaving') : undefined;
      if (beside !== undefined) return this.placed(beside, 'unused-node-in-leaving-zone');
      const leaving = places.leavingNodes().filter(({ zone }) => places.isLeavingZone(zone));
      return this.placed(this.fewNodes(question, leaving), 'leaving-node-in-leaving-zone');
    }
    // Without an occupied zone the second tier is the first.
    const second = places.zones.isEmpty ? undefined : this.unusedTier(question, 'any');
    if (second !== undefined) return this.placed(second, 'unused-node');
    if (nodeAntiAffinity === 'required') {
      return this.placed(this.fewNodes(question, places.leavingNodes()), 'leaving-node');
    }
    return this.placed(this.fewNodes(question, places.nodes.toArray()), 'used-node');
  }

  /** The tiers that hold most of the fleet. */
  private unusedTier(question: Question, use: ZoneUse): number | undefined {
    const { structure, places } = this;
    const { requiredNodeId } = question.request;
    if (requiredNodeId !== undefined) {
      return this.fewNodes(question, this.onTier(structure.node(requiredNodeId), use));
    }
    const localId = preferredNodeId(question.request);
    if (localId !== undefined) {
      const local = this.onTier(structure.node(localId), use).filter(({ slots }) =>
        slots.some((slot) => this.search.holds(slot)),
      );
      const slot = this.fewNodes(question, local);
      if (slot !== undefined) return slot;
    }
    const slot = this.searchMembers(question, use);
    if (slot !== undefined || places.slots.isEmpty) return slot;
    // Every disk that passes holds a replica of the volume: those are all that is left.
    const sharing = new Set(places.slots.toArray().map((taken) => structure.nodeBySlot[taken]));
    return this.fewNodes(
      question,
      [...sharing].flatMap((node) => this.onTier(node, use)),
    );
  }

  /** A list of the node, or of none when a replica of the volume keeps it off the tier. */
  private onTier(node: NodeEntry | undefined, use: ZoneUse): NodeEntry[] {
    if (node === undefined || this.places.nodes.has(node)) return [];
    return this.isZoneOf(use, node.zone) ? [node] : [];
  }

  private isZoneOf(use: ZoneUse, zone: ZoneKey): boolean {
    if (use === 'any') return true;
    return use === 'unused' ? !this.places.zones.has(zone) : this.places.isLeavingZone(zone);
  }

  private searchMembers({ request, plan }: Question, use: ZoneUse): number | undefined {
    const { members, search } = this;
    members.length = 0;
    for (const member of plan.members) if (this.isZoneOf(use, member.group.zone)) members.push(member);
    const alpha = this.structure.settings['balance-alpha'];
    const node = alpha === 1 ? search.mostUsableNode(members) : this.hybrid.bestNode(members, alpha);
    if (node !== undefined) return this.chooser.onNode(node, request, alpha);
    // Nothing holds the whole size: the least overdrawn of the disks that the space formulas let pass.
    return search.mostUsableDisk(members);
  }

  private fewNodes(question: Question, nodes: readonly NodeEntry[]): number | undefined {
    const { request, plan } = question;
    const allowed = nodes.filter(
      ({ id, open, group }) =>
        open &&
        group !== undefined &&
        plan.groups.has(group) &&
        (request.requiredNodeId === undefined || request.requiredNodeId === id),
    );
    return allowed.length === 0 ? undefined : this.chooser.onNodes(allowed, request);
  }

  private placed(slot: number | undefined, tier: TierName): FastPlacement {
    if (slot === undefined) return NONE;
    const { structure } = this;
    structure.remember(slot);
    return { kind: 'placed', nodeId: structure.nodeOf(slot).id, diskId: structure.diskId(slot), tier };
  }
}
