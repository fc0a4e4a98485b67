/**
 * Asks our scheduler, under the `longhorn` profile, what Longhorn's scheduler was asked, and compares the answers.
 *
 * Pure: the caller reads the files. A vector that can't be read counts as failed, and the run goes on.
 */
import { z } from 'zod';
import { assertNever } from '../../model/faults.js';
import type { Comparison } from './answer.js';
import { runScheduleReplica, runScheduleVolume, runWorkload } from './run-placement.js';
import { runReuse } from './run-reuse.js';
import {
  runBelowPressure,
  runExpansion,
  runPickDisk,
  runSelectors,
  runSpaceCheck,
  runUnderPressure,
} from './run-rule.js';
import { type Vector, vectorSchema } from './vector.js';

export type VectorResult = Comparison & { readonly name: string; readonly category: string };

const label = z.object({ name: z.string().default('(no name)'), category: z.string().default('(none)') });

export function runVector(json: unknown): VectorResult {
  const parsed = vectorSchema.safeParse(json);
  if (parsed.success) {
    const { name, category } = parsed.data;
    return { name, category, ...run(parsed.data) };
  }
  const known = label.safeParse(json);
  const { name, category } = known.success ? known.data : { name: '(no name)', category: '(none)' };
  const [issue] = parsed.error.issues;
  const got = `can't be read: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`;
  return { name, category, passed: false, exact: false, got, wanted: 'a vector' };
}

function run(vector: Vector): Comparison {
  switch (vector.op) {
    case 'schedule-replica':
      return runScheduleReplica(vector);
    case 'schedule-volume':
      return runScheduleVolume(vector);
    case 'workload':
      return runWorkload(vector);
    case 'reuse-failed-replica':
      return runReuse(vector);
    case 'pick-disk':
      return runPickDisk(vector);
    case 'is-schedulable-to-disk':
      return runSpaceCheck(vector);
    case 'is-disk-under-pressure':
      return runUnderPressure(vector);
    case 'is-schedulable-considering-disk-pressure':
      return runBelowPressure(vector);
    case 'validate-disk-for-expansion':
      return runExpansion(vector);
    case 'selectors-in-tags':
      return runSelectors(vector);
    default:
      return assertNever(vector);
  }
}
