import { compareIds, type NodeId } from '../../model/ids.js';
import type { FleetView } from '../../model/views.js';
import { totalBytes } from '../tiers/usable-space.js';
import { type Fill, NODES_SHOWN_MAX, type NodeFill, type Shown, type ZoneFill } from './simulation.js';

/** How full each node is before and after, fullest afterwards first. */
export function nodeFills(before: FleetView, after: FleetView): Shown<NodeFill> {
  const fillsBefore = fillsBy(before, ({ id }) => id);
  const fillsAfter = fillsBy(after, ({ id }) => id);
  const nodes = new Map([...before.nodes, ...after.nodes].map((node) => [node.id, node]));
  const fills = [...nodes.values()]
    .map(
      ({ id, name, zone }): NodeFill => ({
        nodeId: id,
        nodeName: name,
        zone: zone ?? null,
        before: fillsBefore.get(id) ?? null,
        after: fillsAfter.get(id) ?? null,
      }),
    )
    .sort((a, b) => shareOf(b.after) - shareOf(a.after) || compareIds(a.nodeName, b.nodeName));
  return { total: fills.length, shown: fills.slice(0, NODES_SHOWN_MAX) };
}

/** By zone name; the unnamed zone comes first. */
export function zoneFills(before: FleetView, after: FleetView): ZoneFill[] {
  const fillsBefore = fillsBy(before, ({ zone }) => zone ?? null);
  const fillsAfter = fillsBy(after, ({ zone }) => zone ?? null);
  return [...new Set([...fillsBefore.keys(), ...fillsAfter.keys()])]
    .sort((a, b) => compareIds(a ?? '', b ?? ''))
    .map((zone) => ({
      zone,
      before: fillsBefore.get(zone) ?? null,
      after: fillsAfter.get(zone) ?? null,
    }));
}

function fillsBy<Key>(
  { nodes, disks }: FleetView,
  keyOf: (node: FleetView['nodes'][number]) => Key,
): Map<Key, Fill> {
  const fills = new Map<Key, Fill>();
  const keys = new Map<NodeId, Key>(nodes.map((node) => [node.id, keyOf(node)]));
  for (const key of keys.values()) fills.set(key, { capacityBytes: 0, scheduledBytes: 0 });
  for (const disk of disks) {
    const key = keys.get(disk.nodeId);
    const fill = key === undefined ? undefined : fills.get(key);
    if (key === undefined || fill === undefined) continue;
    fills.set(key, {
      capacityBytes: fill.capacityBytes + totalBytes(disk),
      scheduledBytes: fill.scheduledBytes + disk.storageScheduledBytes,
    });
  }
  return fills;
}

/** What is gone comes last, what has no capacity counts as full. */
function shareOf(fill: Fill | null): number {
  if (fill === null) return -1;
  return fill.capacityBytes > 0 ? fill.scheduledBytes / fill.capacityBytes : 1;
}
