/**
 * Auto-balance by count: over zones first, then over nodes.
 *
 * A move is only made if it makes the counts of zones more even, or leaves these as they are and makes those of nodes more even. So
 * in a fleet that does not change, moves come to an end, and zones and nodes can't move a copy back and forth.
 */
import { disksByNode } from '../model/fleet-lookup.js';
import { compareIds, type NodeId } from '../model/ids.js';
import { type StorageNode, type ZoneKey, zoneKey } from '../model/node.js';
import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { lastingCopies, nodeById } from '../model/volume-facts.js';
import { holderOf } from '../model/volume-lifecycle.js';
import { surplusOrder } from '../policy/decide-surplus.js';
import { isSettled, mayBeTaken, stableSince } from './balance-guards.js';
import { placeInstead } from './place-instead.js';
import { type MoveAnswer, placeOf } from './planned-move.js';

export type BalanceEffort = 'least-effort' | 'best-effort';

/** Targets tried in one decision; each costs a placement. */
const PLACEMENTS_MAX = 50;

type Candidate = {
  readonly replica: Replica;
  readonly target: StorageNode;
  readonly zoneGain: number;
  readonly nodeGain: number;
  /** Is the copy clearly younger than the volume's oldest one? Of equal gains such a copy moves, and the stable one stays. */
  readonly isYoung: boolean;
  readonly freeBytes: number;
  readonly gain: string;
};

export function spreadMove(view: VolumeView, effort: BalanceEffort, now: Date): MoveAnswer {
  const wanted = candidatesOf(view, effort, now);
  const candidates = wanted.filter(({ replica }) => mayBeTaken(view, replica, now));
  for (const { replica, target, gain } of candidates.slice(0, PLACEMENTS_MAX)) {
    const from = placeOf(replica);
    const placement = placeInstead(view, replica, { nodeId: target.id }, now);
    if (from === undefined || placement.kind !== 'placed') continue;
    const to = { nodeId: target.id, diskId: placement.diskId };
    return { kind: 'move', move: { replica, from, to, reason: 'balance', gain } };
  }
  if (wanted.length === 0) return undefined;
  const why =
    candidates.length === 0 ? 'another copy has only just become stable' : 'no emptier node has room';
  return { kind: 'blocked', why };
}

/** The best first; equals in the order of their ids. */
function candidatesOf(view: VolumeView, effort: BalanceEffort, now: Date): Candidate[] {
  const { fleet } = view;
  const counts = countsOf(view);
  const targets = fleet.nodes.filter((node) => isSettled(node, fleet.settings, now));
  const found = [...counts.nodes.keys()].flatMap((sourceId) => {
    const source = targets.find(({ id }) => id === sourceId);
    const replica = source === undefined ? undefined : movableOn(view, source.id);
    if (source === undefined || replica === undefined) return [];
    return targets.flatMap((target) => {
      const gains = gainsOf(source, target, counts);
      if (target === source || !isWorth(gains, effort, fleet.settings['replica-auto-balance-margin']))
        return [];
      const freeBytes = freeBytesOn(view, target.id);
      const isYoung = isYoungIn(view, replica);
      return [
        { replica, target, isYoung, freeBytes, ...gains, gain: gainText(source, target, gains, counts) },
      ];
    });
  });
  return found.sort(compareCandidates);
}

type Counts = { readonly nodes: ReadonlyMap<NodeId, number>; readonly zones: ReadonlyMap<ZoneKey, number> };

function countsOf(view: VolumeView): Counts {
  const nodes = new Map<NodeId, number>();
  const zones = new Map<ZoneKey, number>();
  for (const { nodeId } of lastingCopies(view)) {
    const node = nodeById(view.fleet, nodeId);
    if (node === undefined) continue;
    nodes.set(node.id, (nodes.get(node.id) ?? 0) + 1);
    zones.set(zoneKey(node), (zones.get(zoneKey(node)) ?? 0) + 1);
  }
  return { nodes, zones };
}

/** By how many copies the source has more than the target; `zoneGain` is 0 within a zone. */
type Gains = {
  readonly isSameZone: boolean;
  readonly zoneGain: number;
  readonly nodeGain: number;
  readonly isZoneUnused: boolean;
  readonly isNodeUnused: boolean;
};

function gainsOf(source: StorageNode, target: StorageNode, { nodes, zones }: Counts): Gains {
  const isSameZone = zoneKey(source) === zoneKey(target);
  const inZone = zones.get(zoneKey(target)) ?? 0;
  const onNode = nodes.get(target.id) ?? 0;
  return {
    isSameZone,
    zoneGain: isSameZone ? 0 : (zones.get(zoneKey(source)) ?? 0) - inZone,
    nodeGain: (nodes.get(source.id) ?? 0) - onNode,
    isZoneUnused: inZone === 0,
    isNodeUnused: onNode === 0,
  };
}

/** A difference of one copy only changes sides by a move; between zones it leaves them as even as they were. */
const EVEN_DIFFERENCE = 1;

function isWorth(gains: Gains, effort: BalanceEffort, margin: number): boolean {
  const { isSameZone, zoneGain, nodeGain, isZoneUnused, isNodeUnused } = gains;
  const keepsZones = isSameZone || zoneGain >= EVEN_DIFFERENCE;
  if (effort === 'least-effort') {
    const usesZone = isZoneUnused && zoneGain > EVEN_DIFFERENCE;
    return usesZone || (isNodeUnused && nodeGain > EVEN_DIFFERENCE && keepsZones);
  }
  return zoneGain >= margin || (nodeGain >= margin && keepsZones);
}

/** The copy of a node that the surplus rule would drop first; never the engine's own if locality wants one there. */
function movableOn(view: VolumeView, nodeId: NodeId): Replica | undefined {
  const { volume } = view;
  const copies = lastingCopies(view);
  const here = copies.filter((replica) => replica.nodeId === nodeId);
  const isKept = volume.spec.dataLocality !== 'disabled' && holderOf(volume) === nodeId && here.length === 1;
  return isKept ? undefined : surplusOrder(view, copies).find((replica) => replica.nodeId === nodeId);
}

function isYoungIn(view: VolumeView, replica: Replica): boolean {
  const oldestMs = Math.min(...lastingCopies(view).map((copy) => stableSince(copy, view.fleet).getTime()));
  const settlingMs = view.fleet.settings['replica-auto-balance-node-settling-time'] * 1000;
  return stableSince(replica, view.fleet).getTime() - oldestMs > settlingMs;
}

function freeBytesOn({ fleet }: VolumeView, nodeId: NodeId): number {
  return (disksByNode(fleet.disks).get(nodeId) ?? []).reduce(
    (sum, disk) => sum + disk.storageMaximumBytes - disk.storageScheduledBytes,
    0,
  );
}

function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    b.zoneGain - a.zoneGain ||
    b.nodeGain - a.nodeGain ||
    Number(b.isYoung) - Number(a.isYoung) ||
    b.freeBytes - a.freeBytes ||
    compareIds(a.target.id, b.target.id) ||
    compareIds(a.replica.id, b.replica.id)
  );
}

function gainText(source: StorageNode, target: StorageNode, gains: Gains, { nodes, zones }: Counts): string {
  if (gains.zoneGain > EVEN_DIFFERENCE) {
    const [from, to] = [zones.get(zoneKey(source)) ?? 0, zones.get(zoneKey(target)) ?? 0];
    return `zone ${zoneName(source)} holds ${from} of its copies and zone ${zoneName(target)} ${to}`;
  }
  const [from, to] = [nodes.get(source.id) ?? 0, nodes.get(target.id) ?? 0];
  return `node ${source.name} holds ${from} of its copies and node ${target.name} ${to}`;
}

function zoneName({ zone }: StorageNode): string {
  return zone ?? '(none)';
}
