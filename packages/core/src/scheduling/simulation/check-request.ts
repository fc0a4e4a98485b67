/** Bounds and forms of what a simulation is asked, all told at once. Names are looked up in `changed-fleet.ts`. */
import { VOLUME_BYTES_MAX } from '../../model/bytes.js';
import { type FaultItem, isFault, StorageFault } from '../../model/faults.js';
import type { ClusterSettings } from '../../model/setting.js';
import type { VolumeSpec } from '../../model/volume.js';
import { resolveVolumeSpec } from '../../policy/volume-spec.js';
import {
  ADDED_DISKS_MAX,
  ADDED_DISKS_PER_NODE_MAX,
  ADDED_NODES_MAX,
  type AddedDisk,
  type AddedNode,
  DRAINS_MAX,
  LOSSES_MAX,
  SHAPES_MAX,
  type SimulationRequest,
  VOLUMES_MAX,
} from './simulation.js';

/** @throws StorageFault `request.invalid` that lists everything that is wrong */
export function assertBounds({ volumes = [], lose = {}, add = {}, drain = [] }: SimulationRequest): void {
  const { nodes = [], disks = [] } = add;
  rejectIfAny([
    ...atMost('/volumes', volumes.length, SHAPES_MAX, 'shapes'),
    ...volumes.flatMap(({ count }, index) => wholeFrom1(`/volumes/${index}/count`, count, VOLUMES_MAX)),
    ...atMost('/volumes', sum(volumes.map(({ count }) => count)), VOLUMES_MAX, 'volumes in all'),
    ...(['nodes', 'zones', 'disks'] as const).flatMap((kind) =>
      atMost(`/lose/${kind}`, lose[kind]?.length ?? 0, LOSSES_MAX, kind),
    ),
    ...atMost('/drain', drain.length, DRAINS_MAX, 'drains'),
    ...nodes.flatMap(addedNodeProblems),
    ...atMost('/add/nodes', sum(nodes.map(({ count = 1 }) => count)), ADDED_NODES_MAX, 'nodes in all'),
    ...disks.flatMap((disk, index) => [
      ...wholeFrom1(`/add/disks/${index}/count`, disk.count ?? 1, ADDED_DISKS_MAX),
      ...addedDiskProblems(disk, `/add/disks/${index}`),
    ]),
    ...atMost('/add/disks', sum(disks.map(({ count = 1 }) => count)), ADDED_DISKS_MAX, 'disks in all'),
  ]);
}

/** The shapes completed with the defaults of a new volume, under the settings that are to be simulated. */
export function specsOf({ volumes = [] }: SimulationRequest, settings: ClusterSettings): VolumeSpec[] {
  return volumes.map((shape, index) => {
    try {
      return resolveVolumeSpec('simulated', shape, settings);
    } catch (error) {
      if (!isFault(error, 'request.invalid')) throw error;
      const errors = (error.details.errors ?? []).map(({ pointer, detail }) => ({
        pointer: `/volumes/${index}${pointer}`,
        detail,
      }));
      throw invalid(errors);
    }
  });
}

export function invalid(errors: readonly FaultItem[]): StorageFault {
  const publicMessage = errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ');
  return new StorageFault('request.invalid', { publicMessage, errors });
}

export function rejectIfAny(errors: readonly FaultItem[]): void {
  if (errors.length > 0) throw invalid(errors);
}

function addedNodeProblems({ name, disks, count = 1 }: AddedNode, index: number): FaultItem[] {
  const at = `/add/nodes/${index}`;
  return [
    ...(name === '' ? [{ pointer: `${at}/name`, detail: 'must not be empty' }] : []),
    ...wholeFrom1(`${at}/count`, count, ADDED_NODES_MAX),
    ...atMost(`${at}/disks`, disks.length, ADDED_DISKS_PER_NODE_MAX, 'disks'),
    ...disks.flatMap((disk, number) => addedDiskProblems(disk, `${at}/disks/${number}`)),
  ];
}

function addedDiskProblems({ sizeBytes, reservedBytes = 0 }: AddedDisk, at: string): FaultItem[] {
  const isReserveSound =
    Number.isSafeInteger(reservedBytes) && reservedBytes >= 0 && reservedBytes <= sizeBytes;
  return [
    ...wholeFrom1(`${at}/sizeBytes`, sizeBytes, VOLUME_BYTES_MAX),
    ...(isReserveSound
      ? []
      : [{ pointer: `${at}/reservedBytes`, detail: 'must be a whole number from 0 to the size' }]),
  ];
}

function wholeFrom1(pointer: string, value: number, max: number): FaultItem[] {
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return [];
  return [{ pointer, detail: `must be a whole number from 1 to ${max}` }];
}

function atMost(pointer: string, value: number, max: number, what: string): FaultItem[] {
  return value <= max ? [] : [{ pointer, detail: `must be at most ${max} ${what}` }];
}

/** Wrong counts are told of one by one, so they add nothing here. */
function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + (Number.isSafeInteger(count) ? count : 0), 0);
}
