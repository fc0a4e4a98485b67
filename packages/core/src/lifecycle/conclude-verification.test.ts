import { NOON } from '@holdfast/testkit/builders.js';
import { aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import {
  type CopyAnswer,
  concludeVerification,
  verifiableCopies,
  verificationProgress,
} from './conclude-verification.js';

const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(NOON.getTime() + hours * HOUR_MS);
const read = (checksum: string): CopyAnswer => ({ checksum, writtenBytes: 4096 });

function conclude(answers: readonly CopyAnswer[], now = at(1)) {
  const given = answers.map((answer, index) => ({ replica: aReplicaOn(`disk-${index}`), answer }));
  return concludeVerification(given, NOON, now);
}

test.each([
  {
    case: 'equal copies',
    answers: [read('x'), read('x')],
    verdict: { state: 'done', equal: true, message: '2 of 2 copies compared: all equal' },
  },
  {
    case: 'a copy that differs',
    answers: [read('x'), read('x'), read('y')],
    verdict: { state: 'done', equal: false, message: '3 of 3 copies compared: they differ' },
  },
  {
    case: 'a node that does not answer',
    answers: [read('x'), 'silent'],
    verdict: { state: 'done', equal: true, message: '1 of 2 copies compared: all equal' },
  },
  {
    case: 'copies that can not be read',
    answers: [{ error: 'EIO' }, 'silent'],
    verdict: { state: 'failed', equal: undefined, message: 'no copy could be read' },
  },
] satisfies { case: string; answers: CopyAnswer[]; verdict: object }[])(
  'the verdict on $case is given at once',
  ({ answers, verdict }) => {
    expect(conclude(answers)).toMatchObject({ ...verdict, requestedAt: NOON, finishedAt: at(1) });
  },
);

test('there is no verdict while a copy is being read, for three hours', () => {
  expect(conclude([read('x'), 'running'], at(3))).toBeUndefined();
  expect(conclude([read('x'), 'running'], at(3.01))).toMatchObject({
    state: 'done',
    replicas: [
      { checksum: 'x', error: null },
      { checksum: null, error: 'it was not read in time' },
    ],
  });
});

test('failed copies are left out: they are known to be old', () => {
  const failed = aReplicaOn('b-disk', { failedAt: NOON });
  expect(verifiableCopies([aReplicaOn('a-disk'), failed]).map(({ id }) => id)).toEqual(['on-a-disk']);
});

describe('progress', () => {
  const running = {
    requestedAt: NOON,
    state: 'running',
    finishedAt: undefined,
    equal: undefined,
    replicas: [],
    message: '',
  } as const;
  const given = (answers: readonly CopyAnswer[]) =>
    answers.map((answer, index) => ({ replica: aReplicaOn(`disk-${index}`), answer }));

  test('is told when one more copy has been read, and once', () => {
    const answers = given([read('x'), { error: 'EIO' }, 'running']);
    const told = verificationProgress(answers, running);
    expect(told).toMatchObject({
      state: 'running',
      message: '2 of 3 copies read',
      replicas: [{ checksum: 'x' }, { error: 'EIO' }],
    });
    expect(verificationProgress(answers, told ?? running)).toBeUndefined();
  });

  test('is none before a copy has been read', () => {
    expect(verificationProgress(given(['running', 'silent']), running)).toBeUndefined();
  });
});
