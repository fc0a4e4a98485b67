/** The fleet as it would be: other settings, without what is lost, with what is added, with drains begun. */

import { type FaultItem, isFault } from '../../model/faults.js';
import type { DiskId, NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { DrainPolicy } from '../../model/node-drain.js';
import type { ClusterSettings } from '../../model/setting.js';
import type { FleetView } from '../../model/views.js';
import { decideDrain, drainPolicyOf } from '../../policy/decide-drain.js';
import { parseSettingValue, type SettingValue } from '../../settings/effective.js';
import { addedDisks, addedNodes } from './added-hardware.js';
import { invalid, rejectIfAny } from './check-request.js';
import type { SimulationRequest } from './simulation.js';

export type LostPlaces = { readonly nodeIds: ReadonlySet<NodeId>; readonly diskIds: ReadonlySet<DiskId> };

/**
 * What a request takes away: nodes (by name, id or zone) and disks (those of lost nodes too).
 *
 * @throws StorageFault `request.invalid` that names what the fleet does not have
 */
export function lostPlaces({ lose = {} }: SimulationRequest, fleet: FleetView): LostPlaces {
  const errors: FaultItem[] = [];
  const nodeIds = new Set<NodeId>();
  const diskIds = new Set<DiskId>();
  for (const [index, wanted] of (lose.nodes ?? []).entries()) {
    const node = fleet.nodes.find(({ id, name }) => id === wanted || name === wanted);
    if (node === undefined)
      errors.push({ pointer: `/lose/nodes/${index}`, detail: `names no node: ${wanted}` });
    else nodeIds.add(node.id);
  }
  for (const [index, wanted] of (lose.zones ?? []).entries()) {
    const nodes = fleet.nodes.filter(({ zone }) => zone === wanted);
    if (nodes.length === 0)
      errors.push({ pointer: `/lose/zones/${index}`, detail: `names no zone: ${wanted}` });
    for (const { id } of nodes) nodeIds.add(id);
  }
  for (const [index, wanted] of (lose.disks ?? []).entries()) {
    const disks = disksNamed(wanted, fleet);
    const [disk, another] = disks;
    const pointer = `/lose/disks/${index}`;
    if (disk === undefined) errors.push({ pointer, detail: `names no disk: ${wanted}` });
    else if (another !== undefined)
      errors.push({ pointer, detail: `names ${disks.length} disks, write node/disk: ${wanted}` });
    else diskIds.add(disk.id);
  }
  rejectIfAny(errors);
  for (const { id, nodeId } of fleet.disks) if (nodeIds.has(nodeId)) diskIds.add(id);
  return { nodeIds, diskIds };
}

function disksNamed(wanted: string, { nodes, disks }: FleetView): StorageDisk[] {
  const byId = disks.filter(({ id }) => id === wanted);
  if (byId.length > 0) return byId;
  const slash = wanted.indexOf('/');
  if (slash < 0) return disks.filter(({ name }) => name === wanted);
  const nodeId = nodes.find(({ name }) => name === wanted.slice(0, slash))?.id;
  return disks.filter((disk) => disk.nodeId === nodeId && disk.name === wanted.slice(slash + 1));
}

/** @throws StorageFault `request.invalid` for a setting or a node that does not exist, or a new node that does */
export function changedFleet(
  request: SimulationRequest,
  fleet: FleetView,
  lost: LostPlaces,
  now: Date,
): FleetView {
  const settings = changedSettings(request.settings ?? {}, fleet.settings);
  const { nodes = [], disks = [] } = request.add ?? {};
  const kept: FleetView = {
    ...fleet,
    settings,
    nodes: fleet.nodes.filter(({ id }) => !lost.nodeIds.has(id)),
    disks: fleet.disks.filter(({ id }) => !lost.diskIds.has(id)),
  };
  const added = addedNodes(nodes, fleet, now);
  const whole = {
    ...kept,
    nodes: [...kept.nodes, ...added.map(({ node }) => node)],
    disks: [...kept.disks, ...addedDisks(disks, kept, now), ...added.flatMap(({ disks: own }) => own)],
  };
  return drainedFleet(whole, drains(request, whole), now);
}

/** Drains of a request by node, each with the policy that it would have. */
export type Drains = ReadonlyMap<NodeId, DrainPolicy>;

/**
 * @param fleet without what is lost
 * @throws StorageFault `request.invalid` that names the drains of nodes that are not there, and those that are refused
 */
export function drains({ drain = [] }: SimulationRequest, fleet: FleetView): Drains {
  const errors: FaultItem[] = [];
  const wanted = new Map<NodeId, DrainPolicy>();
  for (const [index, { node: name, policy: given }] of drain.entries()) {
    const node = fleet.nodes.find(({ id, name: called }) => id === name || called === name);
    const policy = drainPolicyOf(given, fleet);
    if (node === undefined)
      errors.push({ pointer: `/drain/${index}/node`, detail: `names no node that is left: ${name}` });
    else if (policy === undefined)
      errors.push({ pointer: `/drain/${index}/policy`, detail: `names no drain policy: ${given}` });
    else wanted.set(node.id, policy);
  }
  rejectIfAny(errors);
  rejectIfAny(drain.flatMap(({ node }, index) => refusedDrain(node, index, wanted, fleet)));
  return wanted;
}

/** As the real drain is refused, where the others have begun. */
function refusedDrain(name: string, index: number, wanted: Drains, fleet: FleetView): FaultItem[] {
  const node = fleet.nodes.find(({ id, name: called }) => id === name || called === name);
  if (node === undefined) return [];
  const nodes = fleet.nodes.filter(({ id }) => id === node.id || !wanted.has(id));
  const decision = decideDrain({ ...node, drain: undefined }, wanted.get(node.id), { ...fleet, nodes });
  return decision.kind === 'refuse' ? [{ pointer: `/drain/${index}`, detail: decision.why }] : [];
}

function drainedFleet(fleet: FleetView, wanted: Drains, now: Date): FleetView {
  if (wanted.size === 0) return fleet;
  const nodes = fleet.nodes.map((node): StorageNode => {
    const policy = wanted.get(node.id);
    if (policy === undefined) return node;
    const wasCordoned = node.drain?.wasCordoned ?? node.cordoned;
    return { ...node, cordoned: true, drain: { policy, requestedAt: now, wasCordoned } };
  });
  return { ...fleet, nodes };
}

function changedSettings(
  wanted: Readonly<Record<string, SettingValue>>,
  settings: ClusterSettings,
): ClusterSettings {
  const values = Object.entries(wanted).map(([name, raw]) => {
    try {
      return [name, parseSettingValue(name, raw)];
    } catch (error) {
      if (!isFault(error)) throw error;
      throw invalid([{ pointer: `/settings/${name}`, detail: error.message }]);
    }
  });
  // Each value was parsed by its own definition, which is what the type says.
  return { ...settings, ...Object.fromEntries(values) } as ClusterSettings;
}
