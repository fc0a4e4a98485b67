/**
 * Consistency check of a fleet view. A broken one (a disk twice, negative bytes, a disk on a node that is not there)
 * would give an answer that looks right and is wrong; so nothing is placed on it.
 *
 * Asked where a view is read or an index built. What was found of a list is remembered with the list, since the volumes of a
 * cluster are planned over the same lists.
 */

import { StorageFault } from '../../model/faults.js';
import { disksById, nodesById } from '../../model/fleet-lookup.js';
import type { DiskId, NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';

/** Findings named in one fault: the first ones tell what kind of data it is, the count tells the rest. */
const FINDINGS_NAMED_MAX = 5;

type Kind = 'node' | 'disk' | 'replica';
type Finding = { readonly kind: Kind; readonly id: string; readonly name: string; readonly problem: string };

/**
 * @param replicas of the volume that is to be placed, or of any
 * @throws StorageFault `fleet.inconsistent` that names the first objects by kind, id and name
 */
export function assertFleetConsistent(fleet: FleetView, replicas: readonly Replica[] = []): void {
  throwIfAny([
    ...identityFindings(fleet),
    ...remembered(foundOfBytes, fleet.disks, (disks) => disks.flatMap(byteFindings)),
    ...replicaFindings(replicas, fleet),
  ]);
}

/**
 * As `assertFleetConsistent` for a fleet of another scheduler's: that things are told apart has to hold there too; its
 * figures are taken as they were recorded.
 *
 * @throws StorageFault `fleet.inconsistent`
 */
export function assertFleetIdentities(fleet: FleetView): void {
  throwIfAny(identityFindings(fleet));
}

function throwIfAny(findings: readonly Finding[]): void {
  const [first] = findings;
  if (first === undefined) return;
  const named = findings.slice(0, FINDINGS_NAMED_MAX).map(describe);
  const rest = findings.length - named.length;
  throw new StorageFault('fleet.inconsistent', {
    publicMessage: `the fleet is inconsistent: ${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`,
    context: { kind: first.kind, id: first.id, name: first.name, findings: findings.length },
  });
}

function describe({ kind, id, name, problem }: Finding): string {
  return `${kind} ${id === name ? id : `${name} (${id})`} ${problem}`;
}

const foundOfNodes = new WeakMap<readonly StorageNode[], readonly Finding[]>();
const foundOfDisks = new WeakMap<readonly StorageDisk[], readonly Finding[]>();
const foundOfBytes = new WeakMap<readonly StorageDisk[], readonly Finding[]>();

function remembered<List extends object>(
  found: WeakMap<List, readonly Finding[]>,
  list: List,
  find: (list: List) => readonly Finding[],
): readonly Finding[] {
  const known = found.get(list);
  if (known !== undefined) return known;
  const findings = find(list);
  found.set(list, findings);
  return findings;
}

function identityFindings({ nodes, disks }: FleetView): Finding[] {
  const known = nodesById(nodes);
  return [
    // Users speak of nodes by their names, so a name stands for one node only.
    ...remembered(foundOfNodes, nodes, (list) =>
      repeated('node', list, ({ id, name }) => [`id ${id}`, `name ${name}`]),
    ),
    ...remembered(foundOfDisks, disks, (list) => repeated('disk', list, ({ id }) => [id])),
    ...disks
      .filter(({ nodeId }) => !known.has(nodeId))
      .map((disk) => ofDisk(disk, `is on node ${disk.nodeId}, which the fleet does not have`)),
  ];
}

function repeated<Thing extends { readonly id: string; readonly name: string }>(
  kind: Kind,
  things: readonly Thing[],
  keysOf: (thing: Thing) => readonly string[],
): Finding[] {
  const seen = new Set<string>();
  return things.flatMap((thing) => {
    const keys = keysOf(thing);
    const isRepeated = keys.some((key) => seen.has(key));
    for (const key of keys) seen.add(key);
    return isRepeated ? [{ kind, id: thing.id, name: thing.name, problem: 'is there twice' }] : [];
  });
}

const BYTE_FIELDS = [
  'storageMaximumBytes',
  'storageAvailableBytes',
  'storageReservedBytes',
  'storageScheduledBytes',
  'writtenBytes',
] as const satisfies readonly (keyof StorageDisk)[];

function byteFindings(disk: StorageDisk): Finding[] {
  return BYTE_FIELDS.flatMap((field) => {
    const bytes = disk[field];
    return isByteCount(bytes) ? [] : [ofDisk(disk, `has ${field} ${bytes}: not a whole number of bytes`)];
  });
}

/** Whole, not negative, and small enough to be exact. */
function isByteCount(bytes: number): boolean {
  return Number.isSafeInteger(bytes) && bytes >= 0;
}

function replicaFindings(replicas: readonly Replica[], { disks, nodes }: FleetView): Finding[] {
  if (replicas.length === 0) return [];
  return replicas.flatMap((replica) => {
    const problem = replicaProblem(replica, disksById(disks), nodesById(nodes));
    return problem === undefined
      ? []
      : [{ kind: 'replica', id: replica.id, name: replica.id, problem } satisfies Finding];
  });
}

function replicaProblem(
  { nodeId, diskId, sizeBytes, writtenBytes }: Replica,
  disks: ReadonlyMap<DiskId, StorageDisk>,
  nodes: ReadonlyMap<NodeId, StorageNode>,
): string | undefined {
  if (!isByteCount(sizeBytes)) return `has sizeBytes ${sizeBytes}: not a whole number of bytes`;
  if (!isByteCount(writtenBytes)) return `has writtenBytes ${writtenBytes}: not a whole number of bytes`;
  if (nodeId !== undefined && !nodes.has(nodeId))
    return `is on node ${nodeId}, which the fleet does not have`;
  if (diskId === undefined) return undefined;
  const disk = disks.get(diskId);
  if (disk === undefined) return `is on disk ${diskId}, which the fleet does not have`;
  if (nodeId === undefined) return `is on disk ${diskId} and on no node`;
  if (disk.nodeId !== nodeId) return `is on node ${nodeId}, and its disk ${diskId} on node ${disk.nodeId}`;
  return undefined;
}

function ofDisk({ id, name }: StorageDisk, problem: string): Finding {
  return { kind: 'disk', id, name, problem };
}
