/**
 * Changes in a simulated cluster since its nodes last ran: engines check the copies of these volumes, and agents report changes.
 * Anything not named here would have its last result.
 */
import type { VolumeId } from '@holdfast/core/model/ids.js';
import type { SimNode } from './sim-node.js';

export class DirtyVolumes {
  /** Copies, engines or ways between them changed: engines look, and nodes report. */
  readonly volumes = new Set<VolumeId>();
  /** Their rows changed: what their nodes report may mean something else now. */
  readonly touched = new Set<VolumeId>();
  /** They have something to report of themselves. */
  readonly nodes = new Set<SimNode>();

  get isEmpty(): boolean {
    return this.volumes.size + this.touched.size + this.nodes.size === 0;
  }

  /** The node and everything that it holds. */
  stir(node: SimNode): void {
    this.nodes.add(node);
    for (const volumeId of node.engines.volumeIds()) this.volumes.add(volumeId);
    for (const volumeId of node.copies.volumeIds()) this.volumes.add(volumeId);
  }

  take(): DirtyVolumes {
    const taken = new DirtyVolumes();
    for (const volumeId of this.volumes) taken.volumes.add(volumeId);
    for (const volumeId of this.touched) taken.touched.add(volumeId);
    for (const node of this.nodes) taken.nodes.add(node);
    this.volumes.clear();
    this.touched.clear();
    this.nodes.clear();
    return taken;
  }

  /** Has the node something new to report? */
  concerns(node: SimNode): boolean {
    if (this.nodes.has(node)) return true;
    return holdsAny(node, this.volumes) || holdsAny(node, this.touched);
  }
}

function holdsAny({ engines, copies }: SimNode, volumeIds: ReadonlySet<VolumeId>): boolean {
  for (const volumeId of volumeIds) {
    if (engines.has(volumeId) || copies.holdsOf(volumeId)) return true;
  }
  return false;
}
