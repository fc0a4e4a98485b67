/** Runs the vectors that ask a single rule. */
import { asId, type DiskId, type NodeId } from '../../model/ids.js';
import { type DiskSpace, fitsInSpace, type SpaceLimits } from '../../policy/disk-space.js';
import { survivesGrowth } from '../../policy/expansion.js';
import { tagsMatch } from '../framework/tags.js';
import { acceptableByLeastRange } from '../longhorn/least-range.js';
import { fitsBelowPressure, isUnderPressure } from '../tiers/disk-pressure.js';
import { type Comparison, compareAnswer, compareVerdict } from './answer.js';
import type { DiskFigures, LimitedDisk, VectorOf } from './vector.js';

export function runPickDisk({ input, expected }: VectorOf<'pick-disk'>): Comparison {
  const candidates = input.candidates.map((candidate) => ({
    ...toSpace(candidate),
    id: asId<DiskId>(candidate.diskId),
    nodeId: asId<NodeId>(candidate.nodeId),
  }));
  const acceptable = acceptableByLeastRange(candidates, input.replicaSize);
  const [choice] = acceptable;
  if (choice === undefined) return compareAnswer({ kind: 'refused', reasons: [] }, expected);

  const comparison = compareAnswer({ kind: 'placed', ...choice, candidates: undefined }, expected);
  const got = acceptable.map(({ nodeId, diskId }) => `${nodeId}/${diskId}`).join(' or ');
  return { ...comparison, exact: comparison.exact && got === comparison.wanted, got };
}

export function runSpaceCheck({ input, expected }: VectorOf<'is-schedulable-to-disk'>): Comparison {
  const demand = { sizeBytes: input.size, writtenBytes: input.requiredStorage };
  return compareVerdict(fitsInSpace(toSpace(input.disk), demand, toLimits(input.disk)), expected.result);
}

export function runUnderPressure({ input, expected }: VectorOf<'is-disk-under-pressure'>): Comparison {
  return compareVerdict(isUnderPressure(toSpace(input.disk), input.diskPressurePercentage), expected.result);
}

export function runBelowPressure({
  input,
  expected,
}: VectorOf<'is-schedulable-considering-disk-pressure'>): Comparison {
  const demand = { sizeBytes: input.size, writtenBytes: input.requiredStorage };
  const { disk, diskPressurePercentage } = input;
  const fits = fitsBelowPressure(toSpace(disk), demand, toLimits(disk), diskPressurePercentage);
  return compareVerdict(fits, expected.result);
}

export function runExpansion({ input, expected }: VectorOf<'validate-disk-for-expansion'>): Comparison {
  const fits = survivesGrowth(toSpace(input.disk), input.requiredBytes, toLimits(input.disk));
  return compareVerdict(fits, expected.result);
}

export function runSelectors({ input, expected }: VectorOf<'selectors-in-tags'>): Comparison {
  return compareVerdict(tagsMatch(input.tags, input.selectors, input.allowEmptySelector), expected.result);
}

function toSpace(disk: DiskFigures): DiskSpace {
  return {
    storageMaximumBytes: disk.storageMaximum,
    storageAvailableBytes: disk.storageAvailable,
    storageReservedBytes: disk.storageReserved,
    storageScheduledBytes: disk.storageScheduled,
  };
}

function toLimits(disk: LimitedDisk): SpaceLimits {
  return {
    overProvisioningPercentage: disk.storageOverProvisioningPercentage,
    minimalAvailablePercentage: disk.storageMinimalAvailablePercentage,
  };
}
