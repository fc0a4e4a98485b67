/**
 * Delta sync of a layer that both sides have: its clusters of 64 KiB are compared by hash, and only those that differ
 * are sent.
 *
 * A source computes the hashes of its next windows while these are compared. Blocks that the target holds and the
 * source does not are dropped, so that both hold the same blocks in the end. Sent data is read back from the file at
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
    for (const span of spansOf(pull)) {
      await eachWindow(context, pull, lane, span, async (window, theirs) => {
        if (pull.compared.has(window)) return;
        await context.copy(() => compareWindow(context, pull, lane, window, theirs));
      });
    }
  };
  await context.together(lanes.map(compareLane));
}

/** Every window of the lane's parts in which either side holds anything, with the source's hashes. */
async function eachWindow(
  context: PullContext,
  { plan, layer }: LayerPull,
  lane: Lane,
  span: WindowSpan,
  handle: (window: number, theirs: WindowBlocks) => Promise<void>,
): Promise<void> {
  const { epoch, blockHash } = context;
  await eachPart(
    lane,
    span,
    (window) => nextHeldWindow(layer, window),
    ({ first, end }) => {
      context.requireGoingOn();
      const ask = { epoch, layerId: plan.id, blockHash, firstWindow: first, endWindow: end };
      return lane.control.command('block-hashes', ask);
    },
    async ({ first, end }, { windows }) => {
      const theirs = new Map<number, WindowBlocks>();
      for (const [window, masks, hashes] of windows)
        theirs.set(window, decodeBlocks(masks, hashes, blockHash));
      let own = nextHeldWindow(layer, first);
      for (; own !== undefined && own < end; own = nextHeldWindow(layer, own + 1)) {
        if (!theirs.has(own)) theirs.set(own, nothing(blockHash));
      }
      for (const [window, blocks] of theirs) await handle(window, blocks);
    },
    true,
  );
}

async function compareWindow(
  context: PullContext,
  pull: LayerPull,
  lane: Lane,
  window: number,
  theirs: WindowBlocks,
): Promise<void> {
  const own = (await hashBlocks(pull.layer, window, context.blockHash)) ?? nothing(context.blockHash);
  let equalBytes = 0;
  const differing: number[] = [];
  for (let index = 0; index < CLUSTERS_PER_WINDOW; index += 1) {
    if (!equalBlock(own, theirs, index)) differing.push(index);
    else equalBytes += heldBytes(theirs.masks[index] ?? 0);
  }
  await Promise.all(
    differing.map(async (index) => {
      const offset = window * WINDOW_BYTES + index * CLUSTER_BYTES;
      const masks = { own: own.masks[index] ?? 0, theirs: theirs.masks[index] ?? 0 };
      await replaceBlock(context, pull, lane, { offset, ...masks });
      const written = await hashBlock(pull.layer, offset, context.blockHash);
      if (!written.equals(hashOf(theirs, index))) throw differs(pull.plan, window, 'what is on the disk');
    }),
  );
  pull.compared.add(window);
  context.bytes.skipped += equalBytes;
  context.noteCompared(equalBytes);
}

type Difference = { offset: number; own: number; theirs: number };

async function replaceBlock(
  context: PullContext,
  pull: LayerPull,
  { client }: Lane,
  { offset, own, theirs }: Difference,
): Promise<void> {
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
    // Merges ranges in the same window, which is looked at once.
    const last = spans.at(-1);
    if (last !== undefined && span.first <= last.end) last.end = Math.max(last.end, span.end);
    else spans.push(span);
  }
  return spans;
}
