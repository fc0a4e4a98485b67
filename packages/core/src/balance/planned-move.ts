/** A decided move: the replaced copy, the place of its replacement, and the gain. */
import type { Place, Relocation, RelocationReason } from '../model/relocation.js';
import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { nodeName } from '../model/volume-facts.js';

export type PlannedMove = {
  readonly replica: Replica;
  readonly from: Place;
  readonly to: Place;
  readonly reason: RelocationReason;
  readonly gain: string;
};

/** Result of looking for a move. `blocked`: one is wanted, and a passing obstacle prevents it. */
export type MoveAnswer =
  | { readonly kind: 'move'; readonly move: PlannedMove }
  | { readonly kind: 'blocked'; readonly why: string }
  | undefined;

/** Where the copy is; `undefined` for one without a disk, which can't move. */
export function placeOf({ nodeId, diskId }: Replica): Place | undefined {
  return nodeId === undefined || diskId === undefined ? undefined : { nodeId, diskId };
}

export function relocationOf(
  { replica, from, reason, gain }: PlannedMove,
  { volume }: VolumeView,
  now: Date,
): Relocation {
  return { reason, replacesId: replica.id, from, gain, bytes: volume.writtenBytes, at: now };
}

/** `disk-1 of node n1` */
export function placeText({ nodeId, diskId }: Place, { fleet }: Pick<VolumeView, 'fleet'>): string {
  const disk = fleet.disks.find(({ id }) => id === diskId);
  return `disk ${disk?.name ?? diskId} of ${nodeName(fleet, nodeId)}`;
}
