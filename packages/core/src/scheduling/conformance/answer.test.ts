/** Comparison with a vector: a judge that let everything pass would prove nothing of the scheduler. */
import { expect, test } from '@jest/globals';
import { type Answer, compareAnswer, compareVerdict, summarize } from './answer.js';
import type { VectorAnswer } from './vector.js';

const PLACED: VectorAnswer = {
  nodeId: 'a',
  diskId: 'a-1',
  candidates: ['a-1', 'b-1'],
  acceptable: [
    { nodeId: 'a', diskId: 'a-1' },
    { nodeId: 'b', diskId: 'b-1' },
  ],
};
const REFUSED: VectorAnswer = { unschedulable: true, reasons: ['disk is full', 'node is down'] };
const at = (nodeId: string, diskId: string, candidates: readonly string[] = ['a-1', 'b-1']): Answer => ({
  kind: 'placed',
  nodeId,
  diskId,
  candidates,
});
const refused = (...reasons: string[]): Answer => ({ kind: 'refused', reasons });

test.each<{ name: string; got: Answer; wanted: VectorAnswer; passed: boolean; exact: boolean }>([
  { name: 'the listed answer is exact', got: at('a', 'a-1'), wanted: PLACED, passed: true, exact: true },
  {
    name: 'another of the right ones passes',
    got: at('b', 'b-1'),
    wanted: PLACED,
    passed: true,
    exact: false,
  },
  {
    name: 'other candidates are not exact',
    got: at('a', 'a-1', []),
    wanted: PLACED,
    passed: true,
    exact: false,
  },
  { name: 'another disk fails', got: at('a', 'a-2'), wanted: PLACED, passed: false, exact: false },
  { name: 'another node fails', got: at('c', 'a-1'), wanted: PLACED, passed: false, exact: false },
  { name: 'a refusal fails', got: refused('disk is full'), wanted: PLACED, passed: false, exact: false },
  {
    name: 'the same reasons pass',
    got: refused('disk is full', 'node is down'),
    wanted: REFUSED,
    passed: true,
    exact: true,
  },
  { name: 'fewer reasons fail', got: refused('disk is full'), wanted: REFUSED, passed: false, exact: false },
  {
    name: 'a place instead of them fails',
    got: at('a', 'a-1'),
    wanted: REFUSED,
    passed: false,
    exact: false,
  },
])('compared with a vector, $name', ({ got, wanted, passed, exact }) => {
  expect(compareAnswer(got, wanted)).toMatchObject({ passed, exact });
});

test('of several steps the first that failed speaks for all', () => {
  const steps = [compareVerdict(true, true), compareVerdict(false, true), compareVerdict(true, false)];
  expect(summarize(steps)).toMatchObject({ passed: false, got: 'step 2: false', wanted: 'step 2: true' });
  expect(summarize(steps.slice(0, 1))).toMatchObject({ passed: true, exact: true });
});
