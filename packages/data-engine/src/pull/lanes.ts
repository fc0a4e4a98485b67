/**
 * Lanes of a rebuild: several sources in parallel, each responsible for its own parts of a layer, for both their
 * hashes and their data.
 *
 * Copies agree on the device's content at each snapshot, not on which layer holds an equal block. So the source that
 * reported the content of a part must also be the one to send it.
 */
import { PART_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import type { DataLink } from '../nbd/data-link.js';
import type { ReplicaControl } from '../protocol/commands.js';

/** Windows from `first` up to, not including, `end`. */
export type WindowSpan = { first: number; end: number };

export const PART_WINDOWS = PART_BYTES / WINDOW_BYTES;

/** One source of one layer, with the parts that it is responsible for. */
export class Lane {
  constructor(
    readonly control: ReplicaControl,
    readonly client: DataLink,
    private readonly index: number,
    private readonly count: number,
  ) {}

  owns(window: number): boolean {
    return Math.floor(window / PART_WINDOWS) % this.count === this.index;
  }

  /** The lane's next part at or after `window`, cut to the span; `undefined` past its end. */
  partFrom(window: number, { first, end }: WindowSpan): WindowSpan | undefined {
    const from = Math.max(window, first);
    let part = Math.floor(from / PART_WINDOWS);
    while (part % this.count !== this.index) part += 1;
    const start = Math.max(from, part * PART_WINDOWS);
    return start >= end ? undefined : { first: start, end: Math.min(end, (part + 1) * PART_WINDOWS) };
  }
}

/** Requests the hashes of one part. `next` is the first non-empty window after it, null for none. */
type AskPart<Reply> = (part: WindowSpan) => Promise<Reply>;

/** A requested part. */
type Asked<Reply> = { readonly part: WindowSpan; readonly reply: Promise<Reply> };

/**
 * Walks a lane's parts of a span in order, and requests the next part while one is handled. `ownNext` tells where the target holds
 * data, so that parts that are empty on both sides are skipped.
 *
 * @param asksAhead requests the next part before the answer for this one arrives, so that the source works on it meanwhile. A request
 * for a part that turns out to be empty is wasted.
 */
export async function eachPart<Reply extends { next: number | null }>(
  lane: Lane,
  span: WindowSpan,
  ownNext: (window: number) => number | undefined,
  ask: AskPart<Reply>,
  handle: (part: WindowSpan, reply: Reply) => Promise<void>,
  asksAhead = false,
): Promise<void> {
  const begin = (part: WindowSpan | undefined): Asked<Reply> | undefined => {
    if (part === undefined) return undefined;
    const reply = ask(part);
    // Awaited one step later; until then a failure must not count as an unhandled rejection.
    reply.catch(() => undefined);
    return { part, reply };
  };
  const beginBehind = (asked: Asked<Reply> | undefined) =>
    asksAhead && asked !== undefined ? begin(lane.partFrom(asked.part.end, span)) : undefined;
  let current = begin(lane.partFrom(span.first, span));
  let ahead = beginBehind(current);
  while (current !== undefined) {
    const { part } = current;
    const reply = await current.reply;
    const own = ownNext(part.end);
    const nexts = [reply.next, own].filter((next) => next !== null && next !== undefined);
    const following = nexts.length === 0 ? undefined : lane.partFrom(Math.min(...nexts), span);
    current = covers(ahead?.part, following) ? ahead : begin(following);
    ahead = beginBehind(current);
    await handle(part, reply);
  }
}

function covers(asked: WindowSpan | undefined, wanted: WindowSpan | undefined): boolean {
  return (
    asked !== undefined && wanted !== undefined && asked.first <= wanted.first && wanted.first < asked.end
  );
}
