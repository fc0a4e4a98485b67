/**
 * Verification of a layer that was sent as a whole: both sides hash their files now, and the target's hashes must
 * also be those of what it received. A source hashes its next windows while the target hashes these.
 */
import { WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { inFlight } from '../base/in-flight.js';
import { hashWindow, nextHeldWindow } from '../layers/window-hash.js';
import { eachPart, type Lane, type WindowSpan } from './lanes.js';
import type { LayerPull } from './layer-pull.js';
import type { PullContext } from './pull-context.js';
import { differs } from './pull-faults.js';

/** One is read while another is hashed. While users are at work the rests are for them, so then it is one. */
const WINDOWS_AT_ONCE = 2;

/** @throws StorageFault `rebuild.contents_differ` */
export async function verifySent(
  context: PullContext,
  pull: LayerPull,
  lanes: readonly Lane[],
): Promise<void> {
  const span = { first: 0, end: Math.ceil(pull.layer.sizeBytes / WINDOW_BYTES) };
  await Promise.all(
    lanes.map((lane) =>
      eachPart(
        lane,
        span,
        (window) => nextHeldWindow(pull.layer, window),
        ({ first, end }) => {
          context.requireGoingOn();
          const ask = { epoch: context.epoch, layerId: pull.plan.id, firstWindow: first, endWindow: end };
          return lane.control.command('hashes', ask);
        },
        (part, { hashes }) => verifyPart(context, pull, part, new Map(hashes)),
      ),
    ),
  );
}

async function verifyPart(
  { bytes, throttle }: PullContext,
  pull: LayerPull,
  { first, end }: WindowSpan,
  expected: ReadonlyMap<number, string>,
): Promise<void> {
  const { plan, layer, received } = pull;
  await inFlight(expected, throttle.yields ? 1 : WINDOWS_AT_ONCE, async ([window, hash]) => {
    const sinceMs = throttle.nowMs();
    if (received.get(window) !== hash) throw differs(plan, window, 'what was sent');
    if ((await hashWindow(layer, window, pull.sums)) !== hash)
      throw differs(plan, window, 'what is on the disk');
    await throttle.rest(sinceMs);
    bytes.verified += pull.heldBytesIn(window);
  });
  let own = nextHeldWindow(layer, first);
  for (; own !== undefined && own < end; own = nextHeldWindow(layer, own + 1)) {
    if (!expected.has(own)) throw differs(plan, own, 'the target holds more');
  }
}
