/** Compares an index with the view that it was built from. For tests, and for processes that keep an index for long. */

import { compareIds } from '../../model/ids.js';
import type { FleetView } from '../../model/views.js';
import { DiskClassView } from './disk-class-view.js';
import { buildFleetIndex, type FleetIndex } from './fleet-index.js';
import type { FleetStructure } from './fleet-structure.js';
import type { NodeEntry } from './node-entry.js';

/** Findings that are told apart; an index that has gone wrong has gone wrong in many places. */
const FINDINGS_MAX = 100;

/** What differs, in words that name node and disk; empty when nothing does. */
export function checkFleetIndex(index: FleetIndex, view: FleetView): string[] {
  const wanted = buildFleetIndex(view).structure;
  const findings = [
    ...differences('node', describeNodes(index.structure), describeNodes(wanted)),
    ...differences('disk', describeDisks(index.structure), describeDisks(wanted)),
    ...wrongSums(index.structure),
  ];
  return findings.slice(0, FINDINGS_MAX);
}

type Descriptions = ReadonlyMap<string, string>;

function describeNodes(structure: FleetStructure): Descriptions {
  const known = [...structure.allNodes].filter(({ facts }) => facts !== undefined);
  // `allGroups` gives every ungrouped node its group first.
  for (const group of structure.allGroups) void group;
  return new Map(known.map((node) => [node.id, describeNode(structure, node)]));
}

function describeNode(structure: FleetStructure, { zone, open, group, slots }: NodeEntry): string {
  const disks = slots.map((slot) => structure.diskId(slot));
  return JSON.stringify({ zone, open, disks, groupSize: group?.size });
}

function describeDisks(structure: FleetStructure): Descriptions {
  const slots = [...structure.allNodes].flatMap((node) => node.slots);
  return new Map(
    slots.map((slot) => {
      const { columns } = structure;
      const state = { open: columns.isOpen(slot), evicting: columns.isEvicting(slot) };
      const limits = {
        headroom: columns.headroom(slot),
        free: columns.free(slot),
        usable: columns.usable(slot),
      };
      return [structure.diskId(slot), JSON.stringify({ ...columns.figures(slot), ...state, ...limits })];
    }),
  );
}

function differences(kind: string, have: Descriptions, want: Descriptions): string[] {
  const ids = [...new Set([...have.keys(), ...want.keys()])].sort(compareIds);
  return ids
    .filter((id) => have.get(id) !== want.get(id))
    .map(
      (id) => `${kind} ${id}: the index has ${have.get(id) ?? 'none'}, the view ${want.get(id) ?? 'none'}`,
    );
}

/** Every tournament against one that is built from the index's own figures. */
function wrongSums(structure: FleetStructure): string[] {
  const findings: string[] = [];
  for (const group of structure.allGroups) {
    for (const view of group.allViews) {
      const fresh = new DiskClassView(view.nodes, view.wanted, structure.columns);
      if (!fresh.agreesWith(view))
        findings.push(`the sums of the group of node ${group.sample.id} are stale`);
    }
  }
  return findings;
}
