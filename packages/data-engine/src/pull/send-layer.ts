/** Full sync of a layer that the target has nothing of: everything that its sources hold is sent. */
import { hashRuns } from '../layers/window-hash.js';
import { heldWindows, readWindow, type WindowPlan } from '../nbd/held-windows.js';
import type { Lane } from './lanes.js';
import type { LayerPull } from './layer-pull.js';
import type { PullContext } from './pull-context.js';

export async function sendLayer(
  context: PullContext,
  pull: LayerPull,
  lanes: readonly Lane[],
): Promise<void> {
  await Promise.all(
    lanes.map(async (lane) => {
      for await (const window of heldWindows(lane.client)) {
        if (pull.received.has(window.window) || !lane.owns(window.window)) continue;
        await context.begin(() => sendWindow(context, pull, lane, window));
      }
    }),
  );
}

async function sendWindow(
  context: PullContext,
  pull: LayerPull,
  { client }: Lane,
  plan: WindowPlan,
): Promise<void> {
  const lengthBytes = plan.runs.reduce((sum, run) => sum + run.lengthBytes, 0);
  await context.throttle.take(lengthBytes, context.requireGoingOn);
  const runs = await readWindow(client, plan);
  const received = hashRuns(runs);
  for (const run of runs) await context.write(pull.layer, run.payload, run.offset, run.lengthBytes);
  for (const { payload } of runs) payload.release?.();
  pull.received.set(plan.window, received);
  pull.bytesSent += lengthBytes;
  context.bytes.sent += lengthBytes;
  context.bytes.compared += lengthBytes;
}
