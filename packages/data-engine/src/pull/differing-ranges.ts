/** Comparison of a layer by range checksums that both sides have stored, without reading the layer on either side. */
import { RANGE_BYTES } from '@holdfast/core/model/bytes.js';
import { SUM_BYTES } from '../layers/range-sums.js';
import type { ByteRange } from '../protocol/pull.js';
import type { Replica } from '../replica/replica.js';
import type { Lane } from './lanes.js';
import type { LayerPull } from './layer-pull.js';
import type { PullContext } from './pull-context.js';

/** Ranges in one answer: the checksums of 8 GiB, 128 KiB and somewhat more as text. */
export const RANGES_PER_ANSWER = 8192;

/** @returns `null` if one of the sides has no valid ones: the whole layer has to be compared */
export async function differingRanges(
  { epoch, requireGoingOn }: PullContext,
  { plan, layer }: LayerPull,
  target: Replica,
  { control }: Lane,
): Promise<ByteRange[] | null> {
  const differing: ByteRange[] = [];
  const total = Math.ceil(layer.sizeBytes / RANGE_BYTES);
  for (let first = 0; first < total; first += RANGES_PER_ANSWER) {
    requireGoingOn();
    const count = Math.min(RANGES_PER_ANSWER, total - first);
    const own = await target.ranges.read(plan.id, first, count);
    const { sums } = await control.command('range-sums', { epoch, layerId: plan.id, first, count });
    const theirs = sums === null ? undefined : Buffer.from(sums, 'base64');
    if (own === undefined || theirs?.length !== own.length) return null;
    addDiffering(differing, first, own, theirs);
  }
  return differing;
}

function addDiffering(differing: ByteRange[], first: number, own: Buffer, theirs: Buffer): void {
  for (let at = 0; at < own.length; at += SUM_BYTES) {
    if (own.subarray(at, at + SUM_BYTES).equals(theirs.subarray(at, at + SUM_BYTES))) continue;
    const start = (first + at / SUM_BYTES) * RANGE_BYTES;
    const last = differing.at(-1);
    if (last !== undefined && last[1] === start) last[1] += RANGE_BYTES;
    else differing.push([start, start + RANGE_BYTES]);
  }
}
