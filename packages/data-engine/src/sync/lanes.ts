/**
 * The sources of a rebuild side by side: each has the parts of a layer that are its own, asks for them, sends them and
 * answers for them.
 *
 * Copies agree on what a device reads as at each snapshot, not on which layer holds an equal block. So whoever said what
 * a part holds must also be the one to send it.
 */
import type { DataLink } from '../nbd/data-link.js';
import type { ReplicaControl } from '../replica/commands.js';

/** Windows from `first` up to, not including, `end`. */
export type WindowSpan = { first: number; end: number };

/** Parts are 128 MiB: as much as one answer about hashes is about. */
const PART_WINDOWS = 32;

/** One source of one layer. */
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

  /** The rest, from `window` on, of the first own part that ends after it; `undefined` past the end of the span. */
  partFrom(window: number, { first, end }: WindowSpan): WindowSpan | undefined {
    const from = Math.max(window, first);
    let part = Math.floor(from / PART_WINDOWS);
    while (part % this.count !== this.index) part += 1;
    const start = Math.max(from, part * PART_WINDOWS);
    return start >= end ? undefined : { first: start, end: Math.min(end, (part + 1) * PART_WINDOWS) };
  }
}

/** Asks for the hashes of one part. `next` is the first window behind it that holds anything, null for none. */
type AskPart<Reply> = (part: WindowSpan) => Promise<Reply>;

/**
 * Goes through a lane's parts of a span in order: asks for the next one while one is handled. `ownNext` tells where the
 * target holds something, so that parts that are empty on both sides cost nothing.
 */
export async function eachPart<Reply extends { next: number | null }>(
  lane: Lane,
  span: WindowSpan,
  ownNext: (window: number) => number | undefined,
  ask: AskPart<Reply>,
  handle: (part: WindowSpan, reply: Reply) => Promise<void>,
): Promise<void> {
  const begin = (part: WindowSpan) => {
    const asked = ask(part);
    // Awaited one step later; until then its failure is not an unhandled one.
    asked.catch(() => undefined);
    return { part, asked };
  };
  const first = lane.partFrom(span.first, span);
  let current = first && begin(first);
  while (current !== undefined) {
    const { part, asked } = current;
    const reply = await asked;
    const own = ownNext(part.end);
    const nexts = [reply.next, own].filter((next) => next !== null && next !== undefined);
    const following = nexts.length === 0 ? undefined : lane.partFrom(Math.min(...nexts), span);
    current = following && begin(following);
    await handle(part, reply);
  }
}
