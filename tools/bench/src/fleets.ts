// Fleets and requests for the scheduler's benchmarks, by a fixed seed: every run measures the same ones.
import { asId } from '@holdfast/core/model/ids.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { type aFleet, aReplicaOn, aRequest } from '@holdfast/testkit/fleet-builder.js';

export const NOW = NOON;

export type Fleet = ReturnType<typeof aFleet>;
export type FleetDisk = Fleet['disks'][number];
export type Request = ReturnType<typeof aRequest>;
export type FleetReplica = Request['replicas'][number];

export function makeReplica(id: string, disk: FleetDisk, sizeBytes: number): FleetReplica {
  return aReplicaOn(disk.id, { id: asId(id), nodeId: disk.nodeId, sizeBytes });
}

/** A request for one replica, with Longhorn's default anti-affinity: node required, zone and disk preferred. */
export function makeRequest(sizeBytes: number, part: Partial<Request> = {}): Request {
  return aRequest({ sizeBytes, diskChoice: 'spread', ...part });
}

/** The item at an index that the caller knows to be there. */
export function itemAt<T>(items: { readonly [index: number]: T }, index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`there is no item ${index}`);
  return item;
}
