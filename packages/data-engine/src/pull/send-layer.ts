/** Full sync of a layer that the target has nothing of: everything that its sources hold is sent. */
import { allEnded } from '../base/all-ended.js';
import { withWindowBuffer } from '../layers/window-buffers.js';
import { heldBytesOf, heldWindows, readWindow, type WindowPlan } from '../nbd/held-windows.js';
import type { Lane } from './lanes.js';
import type { LayerPull } from './layer-pull.js';
import type { PullContext } from './pull-context.js';
import type { WrittenFrontier } from './written-frontier.js';

/** Sends a lane's windows in order. When it returns all are under way, and the frontier ends when they are written. */
export async function sendLane(
  context: PullContext,
  pull: LayerPull,
  lane: Lane,
  frontier: WrittenFrontier,
): Promise<void> {
  try {
    for await (const window of heldWindows(lane.client)) {
      if (!lane.owns(window.window)) continue;
      frontier.pass(window.window, context.copiesBegun);
      if (pull.received.has(window.window)) continue;
      await context.copy(() => sendWindow(context, pull, lane, window), heldBytesOf(window));
    }
  } finally {
    void context.copiesBegun().then(() => frontier.end());
  }
}

async function sendWindow(
  context: PullContext,
  pull: LayerPull,
  { client }: Lane,
  plan: WindowPlan,
): Promise<void> {
  const lengthBytes = heldBytesOf(plan);
  await context.throttle.take(lengthBytes, context.requireGoingOn);
  // Received where the disk takes it from: another copy of all bytes would take a tenth of the target's processor time.
  await withWindowBuffer(async (buffer) => {
    const runs = await readWindow(client, plan, buffer);
    await allEnded(runs.map((run) => context.write(pull.layer, run.payload, run.offset, run.lengthBytes)));
  }, lengthBytes);
  pull.received.add(plan.window);
  pull.bytesSent += lengthBytes;
  context.bytes.sent += lengthBytes;
  context.bytes.compared += lengthBytes;
}
