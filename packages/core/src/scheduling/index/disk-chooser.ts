/** The last step on a node, or on the few nodes of a tier that needs no search. */

import type { PlacementRequest } from '../framework/placement-request.js';
import { chooseDisk, chooseFromOptions, type DiskOption, type Option } from '../tiers/balance.js';
import { preferredNodeId } from '../tiers/locality.js';
import type { FleetStructure } from './fleet-structure.js';
import type { NodeEntry } from './node-entry.js';
import type { OccupiedPlaces } from './occupied-places.js';
import type { SpaceSearch } from './space-search.js';

export class DiskChooser {
  constructor(
    private readonly structure: FleetStructure,
    private readonly search: SpaceSearch,
    private readonly places: OccupiedPlaces,
  ) {}

  /** A disk of the node that balance has chosen; one of them holds the whole replica. */
  onNode(node: NodeEntry, request: PlacementRequest, alpha: number): number | undefined {
    const { sizeBytes, diskChoice = 'spread' } = request;
    // For any α the most usable is the best of disks of one capacity, as most nodes have.
    if (alpha === 1 || diskChoice === 'pack' || this.hasOneCapacity(node))
      return this.simplest(node, sizeBytes, diskChoice === 'pack');
    const slots = node.slots.filter((slot) => this.search.holds(slot));
    const options = slots.map((slot): Option<string> => {
      const usable = this.structure.columns.usable(slot);
      return { ...this.option(slot, sizeBytes), usableBytes: Math.max(0, usable) };
    });
    const chosen = chooseDisk(options, { sizeBytes, alpha, diskChoice });
    return slots.find((slot) => this.structure.diskIds[slot] === chosen?.id);
  }

  private hasOneCapacity({ slots }: NodeEntry): boolean {
    const { columns } = this.structure;
    const [first] = slots;
    if (first === undefined) return true;
    const totalBytes = columns.total(first);
    for (const slot of slots) if (columns.total(slot) !== totalBytes) return false;
    return true;
  }

  /** The most or the least usable disk with room for all; slots stand by id, so the first of equals wins. */
  private simplest(node: NodeEntry, sizeBytes: number, isPacking: boolean): number | undefined {
    const { columns } = this.structure;
    let best: number | undefined;
    let bestBytes = 0;
    for (const slot of node.slots) {
      if (!this.search.holds(slot)) continue;
      const usable = columns.usable(slot);
      if (usable < sizeBytes) continue;
      if (best !== undefined && (isPacking ? usable >= bestBytes : usable <= bestBytes)) continue;
      best = slot;
      bestBytes = usable;
    }
    return best;
  }

  /** As the linear path chooses: fewest replicas on the disk, the local node, balance. */
  onNodes(nodes: readonly NodeEntry[], request: PlacementRequest): number | undefined {
    const passing = nodes.flatMap(({ slots }) => slots.filter((slot) => this.search.passes(slot)));
    const least = this.leastShared(passing, request);
    if (least.length < 2) return least[0];
    const localId = preferredNodeId(request);
    const local = least.filter((slot) => this.structure.nodeBySlot[slot]?.id === localId);
    const candidates = local.length > 0 ? local : least;
    const { sizeBytes, diskChoice = 'spread' } = request;
    const alpha = this.structure.settings['balance-alpha'];
    const options = candidates.map((slot) => this.option(slot, sizeBytes));
    const chosen = chooseFromOptions(options, { sizeBytes, alpha, diskChoice });
    return candidates.find((slot) => this.structure.diskIds[slot] === chosen);
  }

  private leastShared(slots: readonly number[], { diskAntiAffinity }: PlacementRequest): readonly number[] {
    const counts = slots.map((slot) => this.places.replicasOn(slot));
    const fewest = Math.min(...counts);
    if (fewest > 0 && diskAntiAffinity === 'required') return [];
    return slots.filter((_, index) => counts[index] === fewest);
  }

  private option(slot: number, sizeBytes: number): DiskOption {
    const { columns } = this.structure;
    const usableBytes = columns.usable(slot);
    return {
      id: this.structure.diskId(slot),
      nodeId: this.structure.nodeOf(slot).id,
      usableBytes,
      totalBytes: columns.total(slot),
      eligible: usableBytes >= sizeBytes,
    };
  }
}
