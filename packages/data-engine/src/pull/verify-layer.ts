/**
 * Verification of a layer that is sent as a whole, part by part behind the copying: the data read back from the target's disk must
 * have the hash of what the source read from its own.
 */
import { WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { hashWindow, nextHeldWindow } from '../layers/window-hash.js';
import { eachPart, type Lane, type WindowSpan } from './lanes.js';
import type { LayerPull } from './layer-pull.js';
import type { PullContext } from './pull-context.js';
import { differs } from './pull-faults.js';
import type { WrittenFrontier } from './written-frontier.js';

/**
 * Verifies a lane's parts, each as soon as it is written. When it returns the last windows are still being read back.
 *
 * @throws StorageFault `rebuild.contents_differ`
 */
export async function verifyLane(
  context: PullContext,
  pull: LayerPull,
  lane: Lane,
  frontier: WrittenFrontier,
): Promise<void> {
  const span = { first: 0, end: Math.ceil(pull.layer.sizeBytes / WINDOW_BYTES) };
  await eachPart(
    lane,
    span,
    (window) => nextHeldWindow(pull.layer, window),
    async ({ first, end }) => {
      await frontier.until(end);
      context.requireGoingOn();
      const ask = { epoch: context.epoch, layerId: pull.plan.id, firstWindow: first, endWindow: end };
      return context.sources.unlessHungUp(() => lane.control.command('hashes', ask));
    },
    (part, { hashes }) => verifyPart(context, pull, part, new Map(hashes)),
  );
}

async function verifyPart(
  context: PullContext,
  pull: LayerPull,
  { first, end }: WindowSpan,
  expected: ReadonlyMap<number, string>,
): Promise<void> {
  const { plan, layer } = pull;
  // Reads what a power cut would leave.
  await context.flush(layer);
  let own = nextHeldWindow(layer, first);
  for (; own !== undefined && own < end; own = nextHeldWindow(layer, own + 1)) {
    if (!expected.has(own)) throw differs(plan, own, 'the target holds more');
  }
  for (const [window, hash] of expected) {
    const heldBytes = pull.heldBytesIn(window);
    await context.verify(async () => {
      if ((await readBack(pull, window)) !== hash) throw differs(plan, window, 'what is on the disk');
      context.bytes.verified += heldBytes;
    }, heldBytes);
  }
}

/** Hash of the data on the target's disk; data that was read before is not read again when another source verifies it. */
async function readBack(pull: LayerPull, window: number): Promise<string | undefined> {
  const known = pull.readBack.get(window);
  if (known !== undefined) return known;
  const hash = await hashWindow(pull.layer, window, pull.sums);
  if (hash !== undefined) pull.readBack.set(window, hash);
  return hash;
}
