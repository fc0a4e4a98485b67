/** Stamps of disks: the newest state of a disk that its holder has stored (docs/adr/0322-disk-stamps.md). */
import { asId, type DiskId, type NodeId } from './ids.js';

/** Bound of a stamp's trail. Only a clean stop adds one before the control plane has answered to the one before it. */
export const STAMP_TRAIL_MAX = 8;

/** Reason of a disk that holds an earlier state of itself, and of the copies on it. */
export const DISK_SET_BACK = 'DiskSetBack';

/** A stamp as the disk holds it. */
export type HeldStamp = {
  readonly id: string;
  readonly generation: number;
  /** Ids of the stamps before it, the newest first. */
  readonly trail: readonly string[];
  /** Copies on the disk may have been written to since. */
  readonly isOpen: boolean;
};

/**
 * The next stamp.
 *
 * @param id random: two states that parted never have the same one
 */
export function stampAfter(before: HeldStamp | undefined, isOpen: boolean, id: string) {
  return {
    id,
    generation: (before?.generation ?? 0) + 1,
    trail: before === undefined ? [] : [before.id, ...before.trail].slice(0, STAMP_TRAIL_MAX),
    isOpen,
  } satisfies HeldStamp;
}

/** As an agent reports it (agent-protocol.ts). */
export function stampReport(held: HeldStamp | undefined, fileId: string | undefined) {
  const { id = null, generation = 0, trail = [], isOpen = false } = held ?? {};
  return { id, generation, trail: [...trail], isOpen, ...(fileId !== undefined && { fileId }) };
}

/** A stamp as the control plane stores it. */
export type DiskStamp = {
  readonly id: string;
  readonly generation: number;
  /** Copies on the disk may have been written to since. */
  readonly isOpen: boolean;
  readonly fileId: string | null;
  /** The agent process that reported it, and when it was stored: ISO, as rows hold it in JSON. */
  readonly bootId: string;
  readonly at: string;
};

/** Reports of other nodes of a disk with this one's identity, by their ids. */
export type DiskRivals = {
  readonly [nodeId: string]: {
    readonly since: string;
    /** Its stamp then. */
    readonly stampId: string | null;
    /** Both nodes have answered with the disk at the same time. */
    readonly isTogether: boolean;
  };
};

/** Row id of a second disk: made of the shared identity and its node, so that each report finds it again. */
export function duplicateRowId(diskId: DiskId, nodeId: NodeId): DiskId {
  const digits = [...diskId].map((digit, at) => {
    if (digit === '-') return digit;
    return (Number.parseInt(digit, 16) ^ Number.parseInt(nodeId.charAt(at), 16)).toString(16);
  });
  // Version 8 and the variant of RFC 9562: no random id looks so.
  return asId<DiskId>(
    [...digits.slice(0, 14), '8', ...digits.slice(15, 19), '8', ...digits.slice(20)].join(''),
  );
}
