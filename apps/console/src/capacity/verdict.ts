/** The verdict on a cluster's capacity: how many more volumes of a kind fit now, and after the loss of the zone that costs most. */
import { formatBytes } from '@holdfast/core/model/bytes.js';

export type Room = { readonly count: number; readonly isAtLeast: boolean; readonly limitedBy: string | null };
/** `undefined`: it is not known yet. */
export type RoomAfter = { readonly zone: string; readonly room: Room | undefined };
export type Kind = { readonly sizeBytes: number; readonly numberOfReplicas: number };

/** Zones that are named one by one as those that cost most. */
const NAMED_MAX = 2;

/** `12 more of 200 GiB × 3 fit; 4 after losing zone-b.` Names the zone that costs most, among the known answers. */
export function verdictOf(kind: Kind, now: Room, after: readonly RoomAfter[]): string {
  const number = now.count === 0 ? 'no' : countWords(now);
  const isOne = now.count < 2 && !now.isAtLeast;
  const fits = `${number} more of ${formatBytes(kind.sizeBytes)} × ${kind.numberOfReplicas} ${isOne ? 'fits' : 'fit'}`;
  const worst = worstOf(after);
  if (worst === undefined) return `${fits}.`;
  return `${fits}; ${countWords(worst)} after losing ${placesWords(worst, after)}.`;
}

/** Which zones it is that cost most: `any zone` only where the loss of each leaves the same. */
function placesWords(worst: Room, after: readonly RoomAfter[]): string {
  const worstZones = after.filter(({ room }) => room?.count === worst.count).map(({ zone }) => zone);
  if (worstZones.length === after.length) return 'any zone';
  return worstZones.length > NAMED_MAX ? `one of ${worstZones.length} zones` : worstZones.join(' or ');
}

/** `undefined` until every zone's answer has arrived, and if there is one zone only: with it everything is lost. */
function worstOf(after: readonly RoomAfter[]): Room | undefined {
  if (after.length < 2) return undefined;
  const rooms = after.flatMap(({ room }) => (room === undefined ? [] : [room]));
  if (rooms.length < after.length) return undefined;
  return rooms.reduce((worst, room) => (room.count < worst.count ? room : worst));
}

export function countWords({ count, isAtLeast }: Room): string {
  if (count === 0) return 'none';
  return `${isAtLeast ? 'at least ' : ''}${count.toLocaleString('en')}`;
}

export type CapacityTone = 'good' | 'warn' | 'bad';

/** Nothing more fits: bad. Nothing more after the loss of a zone: worth a warning. */
export function toneOf(now: Room, after: readonly RoomAfter[]): CapacityTone {
  if (now.count === 0) return 'bad';
  return worstOf(after)?.count === 0 ? 'warn' : 'good';
}
