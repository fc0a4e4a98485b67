/**
 * Index over a fleet: placing a replica costs a walk down a tree, and booking it a walk up (ADR 0060).
 *
 * `place` answers as `placeReplica` with the `holdfast` profile does: the same disk from the same tier. It explains
 * nothing. On `none` ask `placeReplica`: that explains the refusal, and answers the few kinds of requests that the
 * index leaves to it (reuse of a given disk, inputs of an imported cluster).
 *
 * Pure: it reads no clock and does no I/O. It is a copy of a view; `checkFleetIndex` tells whether the two still agree.
 */

import type { DiskId, NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { FleetView } from '../../model/views.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { assertFleetConsistent } from '../placement/fleet-consistency.js';
import type { FleetShell } from './eligibility.js';
import { type FastPlacement, FastPlacer } from './fast-placement.js';
import { FleetStructure } from './fleet-structure.js';

export type { FastPlacement } from './fast-placement.js';

/** What a replica claims of a disk. */
export type DiskBooking = {
  /** Its nominal size. */
  readonly sizeBytes: number;
  /** What of it is in the disk's `writtenBytes`: 0 for a replica that is new. */
  readonly writtenBytes: number;
};

/** @throws StorageFault `fleet.inconsistent`: once here, so that no decision has to ask */
export function buildFleetIndex(view: FleetView): FleetIndex {
  assertFleetConsistent(view);
  const index = new FleetIndex(view, view.disks.length);
  for (const node of view.nodes) index.putNode(node);
  for (const disk of view.disks) index.putDisk(disk);
  return index;
}

export class FleetIndex {
  /** For `checkFleetIndex`. */
  readonly structure: FleetStructure;
  private readonly placer: FastPlacer;

  constructor(shell: FleetShell, diskCount: number) {
    const { clusterId, settings, settingsVersion } = shell;
    this.structure = new FleetStructure({ clusterId, settings, settingsVersion }, diskCount);
    this.placer = new FastPlacer(this.structure);
  }

  /** @param now for the clock of failed replicas that may come back */
  place(request: PlacementRequest, now: Date): FastPlacement {
    return this.placer.place(request, now);
  }

  book(diskId: DiskId, { sizeBytes, writtenBytes }: DiskBooking): void {
    this.structure.book(this.structure.recentSlot(diskId), sizeBytes, writtenBytes);
  }

  release(diskId: DiskId, { sizeBytes, writtenBytes }: DiskBooking): void {
    this.structure.book(this.structure.slot(diskId), -sizeBytes, -writtenBytes);
  }

  /** Adds a node or takes in its changes. */
  putNode(node: StorageNode): void {
    this.structure.putNode(node);
  }

  removeNode(id: NodeId): void {
    this.structure.removeNode(id);
  }

  /** Adds a disk or takes in its changes; its figures replace what was booked here. */
  putDisk(disk: StorageDisk): void {
    this.structure.putDisk(disk);
  }

  removeDisk(id: DiskId): void {
    this.structure.removeDisk(id);
  }

  /** Works every disk out again: limits follow the settings. */
  useSettings(settings: FleetView['settings'], settingsVersion: number): void {
    this.structure.useSettings({ ...this.structure.shell, settings, settingsVersion });
  }

  /** Bytes of the typed arrays. Ids, maps and node entries come on top; the benchmark measures all of it. */
  get arrayBytes(): number {
    return this.structure.arrayBytes;
  }
}
