/** Answer to one step of a vector, and whether it is right. */
import type { VectorAnswer } from './vector.js';

export type Answer =
  | {
      readonly kind: 'placed';
      readonly nodeId: string;
      readonly diskId: string;
      /** `undefined` where the operation has none. */
      readonly candidates: readonly string[] | undefined;
    }
  | { readonly kind: 'refused'; readonly reasons: readonly string[] };

export type Comparison = {
  readonly passed: boolean;
  /** Also the listed one of several right answers, from the listed candidates. */
  readonly exact: boolean;
  readonly got: string;
  readonly wanted: string;
};

/** Right is whatever Longhorn itself may answer: it breaks ties at random. */
export function compareAnswer(got: Answer, wanted: VectorAnswer): Comparison {
  const texts = { got: describeAnswer(got), wanted: describeWanted(wanted) };
  if ('unschedulable' in wanted) {
    const passed = got.kind === 'refused' && isSameList(got.reasons, wanted.reasons);
    return { passed, exact: passed, ...texts };
  }
  if (got.kind === 'refused') return { passed: false, exact: false, ...texts };
  const passed = wanted.acceptable.some(
    ({ nodeId, diskId }) => nodeId === got.nodeId && diskId === got.diskId,
  );
  const isListed = got.nodeId === wanted.nodeId && got.diskId === wanted.diskId;
  const hasCandidates =
    wanted.candidates === undefined ||
    (got.candidates !== undefined && isSameList(got.candidates, wanted.candidates));
  return { passed, exact: isListed && hasCandidates, ...texts };
}

export function compareVerdict(got: boolean, wanted: boolean): Comparison {
  return { passed: got === wanted, exact: got === wanted, got: String(got), wanted: String(wanted) };
}

/** One comparison for all steps of a vector: the first that failed speaks for them. */
export function summarize(comparisons: readonly Comparison[]): Comparison {
  const failed = comparisons.findIndex(({ passed }) => !passed);
  const shown = comparisons[failed];
  const exact = comparisons.every((comparison) => comparison.exact);
  if (shown === undefined) return { passed: true, exact, got: 'every step', wanted: 'every step' };
  const step = `step ${failed + 1}: `;
  return { passed: false, exact: false, got: step + shown.got, wanted: step + shown.wanted };
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

function describeAnswer(answer: Answer): string {
  if (answer.kind === 'refused') return describeReasons(answer.reasons);
  return `${answer.nodeId}/${answer.diskId}`;
}

function describeWanted(wanted: VectorAnswer): string {
  if ('unschedulable' in wanted) return describeReasons(wanted.reasons);
  return wanted.acceptable.map(({ nodeId, diskId }) => `${nodeId}/${diskId}`).join(' or ');
}

function describeReasons(reasons: readonly string[]): string {
  return `unschedulable (${reasons.length === 0 ? 'no reason' : reasons.join('; ')})`;
}
