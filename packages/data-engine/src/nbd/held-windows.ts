/** Iteration over the blocks that a source's frozen layer holds, window by window, and reading of them. */
import { MIB, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import type { DataLink } from './data-link.js';
import type { Payload } from './export.js';

/** A maximal run of held blocks, with their data. */
export type HeldRun = { offset: number; lengthBytes: number; payload: Payload };

/** A window with the runs that the layer holds in it, in order; touching runs are merged. */
export type WindowPlan = { window: number; runs: { offset: number; lengthBytes: number }[] };

/** Bytes covered by one block-status query. */
const STATUS_BYTES = 1024 * MIB;
const EXTENTS_MAX = 4096;

/** Non-empty windows of the layer behind `source`, in order. */
export async function* heldWindows(source: DataLink): AsyncGenerator<WindowPlan> {
  let current: WindowPlan | undefined;
  for (let at = 0; at < source.sizeBytes; ) {
    const extents = await source.blockStatus(at, Math.min(STATUS_BYTES, source.sizeBytes - at), EXTENTS_MAX);
    for (const { lengthBytes, allocated } of extents) {
      const end = at + lengthBytes;
      while (allocated && at < end) {
        const window = Math.floor(at / WINDOW_BYTES);
        const stop = Math.min(end, (window + 1) * WINDOW_BYTES);
        if (current !== undefined && current.window !== window) {
          yield current;
          current = undefined;
        }
        current ??= { window, runs: [] };
        addRun(current, at, stop);
        at = stop;
      }
      at = end;
    }
  }
  if (current !== undefined) yield current;
}

/**
 * Reads all runs of a window at once.
 *
 * @param buffer that holds them one behind the other
 */
export async function readWindow(source: DataLink, { runs }: WindowPlan, buffer: Buffer): Promise<HeldRun[]> {
  let end = 0;
  const held = runs.map(({ offset, lengthBytes }) => {
    end += lengthBytes;
    return { offset, lengthBytes, payload: buffer.subarray(end - lengthBytes, end) };
  });
  await source.readEachInto(held.map(({ offset, payload }) => ({ offset, buffer: payload })));
  return held.map((run) => ({ ...run, payload: [run.payload] }));
}

export function heldBytesOf({ runs }: WindowPlan): number {
  return runs.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0);
}

function addRun(plan: WindowPlan, start: number, stop: number): void {
  const last = plan.runs.at(-1);
  if (last !== undefined && last.offset + last.lengthBytes === start) last.lengthBytes = stop - last.offset;
  else plan.runs.push({ offset: start, lengthBytes: stop - start });
}
