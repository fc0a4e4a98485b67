/**
 * Delta sync of a layer that both sides have: its clusters of 64 KiB are compared by hash, and only those that differ
 * are sent.
 *
 * Source and target hash their next windows while these are compared. Blocks that the target holds and the source does
 * not are dropped, so that both hold the same blocks in the end. Sent data is read back from the file at
 * once, and must have the hash of the source's own file: its layer is frozen, so the source need not be asked again.
 */
import { BLOCK_BYTES, CLUSTER_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import {
  CLUSTERS_PER_WINDOW,
  decodeBlocks,
  equalBlock,
  HASH_BYTES,
  hashBlock,
  hashBlocks,
  hashOf,
  runsOf,
  type WindowBlocks,
} from '../layers/block-hash.js';
import { nextHeldWindow } from '../layers/window-hash.js';
import type { BlockHash } from '../protocol/pull.js';
import { eachPart, type Lane, type WindowSpan } from './lanes.js';
import type { LayerPull } from './layer-pull.js';
import type { PullContext } from './pull-context.js';
import { differs } from './pull-faults.js';

/** @throws StorageFault `rebuild.contents_differ` */
export async function compareLayer(
  context: PullContext,
  pull: LayerPull,
  lanes: readonly Lane[],
): Promise<void> {
  const compareLane = async (lane: Lane) => {
    const ahead = new HashedAhead(context, pull);
    for (const span of spansOf(pull)) await compareSpan(context, pull, lane, span, ahead);
  };
  await context.together(lanes.map(compareLane));
}

/** Every window of the lane's parts in which either side holds anything. */
async function compareSpan(
  context: PullContext,
  pull: LayerPull,
  lane: Lane,
  span: WindowSpan,
  ahead: HashedAhead,
): Promise<void> {
  const { plan, layer } = pull;
  const { epoch, blockHash } = context;
  await eachPart(
    lane,
    span,
    (window) => nextHeldWindow(layer, window),
    async (part) => {
      context.requireGoingOn();
      const hashing = ahead.begin(part);
      const ask = { epoch, layerId: plan.id, blockHash, firstWindow: part.first, endWindow: part.end };
      const { windows, next } = await lane.control.command('block-hashes', ask);
      return { windows, next, hashing };
    },
    async (_, { windows, hashing }) => {
      const own = await hashing;
      context.requireGoingOn();
      const theirs = new Map(
        windows.map(([window, masks, hashes]) => [window, decodeBlocks(masks, hashes, blockHash)]),
      );
      for (const window of new Set([...theirs.keys(), ...own.keys()])) {
        if (pull.compared.has(window)) continue;
        const of = (side: ReadonlyMap<number, WindowBlocks>) => side.get(window) ?? nothing(blockHash);
        await compareWindow(context, pull, lane, { window, own: of(own), theirs: of(theirs) });
      }
    },
    true,
  );
}

/**
 * The target's hashes of requested parts: both sides read and hash at the same time, and the source's answer is compared with these.
 * At most three parts, of 70 KiB each with BLAKE3 and 135 KiB with SHA-512.
 */
class HashedAhead {
  /** Serialises parts, so that results are applied in the order in which they were compared. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly context: PullContext,
    private readonly pull: LayerPull,
  ) {}

  /** Left out are windows that can't be read, which ends the attempt. */
  begin(part: WindowSpan): Promise<ReadonlyMap<number, WindowBlocks>> {
    const hashed = this.last.then(() => this.hash(part));
    // The failure of one is thrown by its consumer, or ends the whole attempt.
    this.last = hashed.catch(() => undefined);
    return hashed;
  }

  private async hash({ first, end }: WindowSpan): Promise<ReadonlyMap<number, WindowBlocks>> {
    const { context, pull } = this;
    const hashed = new Map<number, WindowBlocks>();
    const underWay: Promise<void>[] = [];
    const hash = async (window: number) => {
      const blocks = await hashBlocks(pull.layer, window, context.blockHash);
      if (blocks !== undefined) hashed.set(window, blocks);
    };
    for (const window of heldWindowsIn(pull, first, end)) {
      await context.copy(() => {
        const one = hash(window);
        underWay.push(one);
        return one;
      });
    }
    await Promise.allSettled(underWay);
    return hashed;
  }
}

function* heldWindowsIn({ layer, compared }: LayerPull, first: number, end: number): Generator<number> {
  for (
    let window = nextHeldWindow(layer, first);
    window !== undefined && window < end;
    window = nextHeldWindow(layer, window + 1)
  ) {
    if (!compared.has(window)) yield window;
  }
}

type Comparison = { readonly window: number; readonly own: WindowBlocks; readonly theirs: WindowBlocks };

async function compareWindow(
  context: PullContext,
  pull: LayerPull,
  lane: Lane,
  comparison: Comparison,
): Promise<void> {
  const { window, own, theirs } = comparison;
  let equalBytes = 0;
  const differing: number[] = [];
  for (let index = 0; index < CLUSTERS_PER_WINDOW; index += 1) {
    if (!equalBlock(own, theirs, index)) differing.push(index);
    else equalBytes += heldBytes(theirs.masks[index] ?? 0);
  }
  const note = () => {
    pull.compared.add(window);
    context.bytes.skipped += equalBytes;
    context.noteCompared(equalBytes);
  };
  if (differing.length === 0) return note();
  await context.copy(async () => {
    await Promise.all(differing.map((index) => replaceCluster(context, pull, lane, comparison, index)));
    note();
  });
}

/** Makes a cluster equal to the source's, and reads it back. */
async function replaceCluster(
  context: PullContext,
  pull: LayerPull,
  { client }: Lane,
  comparison: Comparison,
  index: number,
): Promise<void> {
  const { window } = comparison;
  const offset = window * WINDOW_BYTES + index * CLUSTER_BYTES;
  const [own, theirs] = [comparison.own.masks[index] ?? 0, comparison.theirs.masks[index] ?? 0];
  for (const { first, count } of runsOf(own & ~theirs)) {
    await pull.layer.forget(offset + first * BLOCK_BYTES, count * BLOCK_BYTES);
  }
  const wanted = heldBytes(theirs);
  await context.throttle.take(wanted, context.requireGoingOn);
  await Promise.all(
    runsOf(theirs).map(async ({ first, count }) => {
      const at = offset + first * BLOCK_BYTES;
      const payload = await client.read(at, count * BLOCK_BYTES);
      await context.write(pull.layer, payload, at, count * BLOCK_BYTES);
      payload.release?.();
    }),
  );
  pull.bytesSent += wanted;
  context.bytes.sent += wanted;
  context.noteCompared(wanted);
  const written = await hashBlock(pull.layer, offset, context.blockHash);
  if (!written.equals(hashOf(comparison.theirs, index)))
    throw differs(pull.plan, window, 'what is on the disk');
}

function heldBytes(mask: number): number {
  return runsOf(mask).reduce((sum, { count }) => sum + count, 0) * BLOCK_BYTES;
}

function nothing(blockHash: BlockHash): WindowBlocks {
  return {
    masks: new Uint16Array(CLUSTERS_PER_WINDOW),
    hashes: Buffer.alloc(CLUSTERS_PER_WINDOW * HASH_BYTES[blockHash]),
  };
}

function spansOf({ ranges, layer }: LayerPull): WindowSpan[] {
  const end = Math.ceil(layer.sizeBytes / WINDOW_BYTES);
  if (ranges === null) return [{ first: 0, end }];
  const spans: WindowSpan[] = [];
  for (const [start, stop] of ranges) {
    const span = {
      first: Math.floor(start / WINDOW_BYTES),
      end: Math.min(end, Math.ceil(stop / WINDOW_BYTES)),
    };
    // Merges ranges in the same window, which is read once.
    const last = spans.at(-1);
    if (last !== undefined && span.first <= last.end) last.end = Math.max(last.end, span.end);
    else spans.push(span);
  }
  return spans;
}
