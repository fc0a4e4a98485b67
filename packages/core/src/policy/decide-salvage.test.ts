import { describe, expect, test } from '@jest/globals';
import { copyRecord } from '../model/copy-record.js';
import { asId, type ReplicaId } from '../model/ids.js';
import type { SurveyedCopy } from '../model/salvage.js';
import type { Attention } from '../model/volume.js';
import { adviseSalvage, COPIES_MISSING, decideSalvage, salvageRisk } from './decide-salvage.js';

const NOON = new Date('2026-01-01T12:00:00Z');
const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((name) => asId<ReplicaId>(name)) as [
  ReplicaId,
  ReplicaId,
  ReplicaId,
  ReplicaId,
];
const ALL = copyRecord(3, 1, [A, B, C]);
const LATER = copyRecord(3, 2, [A, B]);

function copy(replicaId: ReplicaId, part: Partial<SurveyedCopy> = {}): SurveyedCopy {
  return { replicaId, record: ALL, isClean: true, writtenBytes: 100, ...part };
}

function aVolume(copies: SurveyedCopy[], code = COPIES_MISSING, record = ALL) {
  const attention: Attention = { code, message: '', cures: [], since: NOON };
  return { name: 'pg-data', record, attention, survey: { takenAt: NOON, copies } };
}

const decide = (volume: ReturnType<typeof aVolume>, named: ReplicaId[] = []) => {
  const decision = decideSalvage(volume, [A, B, C], named);
  return decision.kind === 'allow' ? decision.replicaIds : decision.code;
};

describe('copies that were set back', () => {
  const newest = copyRecord(3, 2, [A, B, C], { epoch: 3, dataGeneration: 1 });
  const old = copyRecord(2, 1, [A, B, C]);

  test('are not named beside one that was not', () => {
    const volume = aVolume([copy(A, { record: newest }), copy(B, { record: old })], COPIES_MISSING, newest);
    expect(decide(volume)).toEqual([A]);
    expect(decide(volume, [A, B])).toBe('volume.record_higher');
  });

  test('are the last resort, one alone: two of them need not be equal', () => {
    const older = copyRecord(1, 1, [A, B, C]);
    const volume = aVolume([copy(A, { record: older }), copy(B, { record: old })], COPIES_MISSING, newest);
    expect(decide(volume)).toEqual([B]);
    expect(decide(volume, [A])).toBe('volume.record_higher');
  });
});

describe('copies of one node that say alone that others are stale', () => {
  const claiming = () => {
    const volume = aVolume([copy(A, { record: copyRecord(3, 99, [A]) }), copy(B), copy(C)]);
    return { ...volume, survey: { ...volume.survey, claimedBy: [A] } };
  };

  test('are left out, and make no other stale', () => {
    expect(decide(claiming())).toEqual([B, C]);
    expect(decide(claiming(), [A])).toBe('volume.record_higher');
    expect(decide(claiming(), [A, B])).toBe('volume.record_higher');
  });

  test('are told of in the risk', () => {
    const volume = claiming();
    expect(salvageRisk(adviseSalvage(volume, [A, B, C]), [B, C], volume.survey)).toBe(
      'writes that 1 other member acknowledged without these copies are lost; so is what one node alone says that it holds',
    );
  });
});

describe('decideSalvage', () => {
  test.each<{ name: string; volume: ReturnType<typeof aVolume>; named?: ReplicaId[]; want: unknown }>([
    { name: 'the one copy that answers', volume: aVolume([copy(C)]), named: [C], want: [C] },
    { name: 'without names, all that may be named', volume: aVolume([copy(C)]), want: [C] },
    { name: 'a name given twice counts once', volume: aVolume([copy(C)]), named: [C, C], want: [C] },
    {
      name: 'a copy named in the highest record, although it had not written that one yet',
      volume: aVolume([copy(B)], COPIES_MISSING, LATER),
      named: [B],
      want: [B],
    },
    {
      name: 'a volume that waits for something else is not faulted',
      volume: aVolume([copy(C)], 'HolderUnreachable'),
      named: [C],
      want: 'volume.not_faulted',
    },
    {
      name: 'Postgres knows a record without the copy',
      volume: aVolume([copy(C)], COPIES_MISSING, LATER),
      named: [C],
      want: 'volume.record_higher',
    },
    {
      name: 'another copy knows a record without it',
      volume: aVolume([copy(C), copy(A, { record: LATER })]),
      named: [C],
      want: 'volume.record_higher',
    },
    {
      name: 'one of two names is behind',
      volume: aVolume([copy(C), copy(A, { record: LATER })]),
      named: [A, C],
      want: 'volume.record_higher',
    },
    { name: 'a copy does not answer', volume: aVolume([copy(C)]), named: [A], want: 'volume.copies_missing' },
    {
      name: 'a copy is of no volume here',
      volume: aVolume([copy(C)]),
      named: [D],
      want: 'replica.not_found',
    },
    {
      name: 'a copy that was never full is known to be behind',
      volume: aVolume([copy(C), copy(B, { record: undefined })]),
      named: [B],
      want: 'volume.record_higher',
    },
    {
      name: 'nothing usable answers',
      volume: aVolume([copy(C)], COPIES_MISSING, LATER),
      want: 'volume.record_higher',
    },
  ])('$name', ({ volume, named, want }) => {
    expect(decide(volume, named)).toEqual(want);
  });

  test('a volume without a survey is not faulted', () => {
    const { survey: _survey, ...rest } = aVolume([copy(C)]);
    expect(decideSalvage({ ...rest, survey: undefined }, [A, B, C], [C])).toMatchObject({
      code: 'volume.not_faulted',
    });
  });
});

describe('adviseSalvage', () => {
  const ranked = (copies: SurveyedCopy[], record = ALL) =>
    adviseSalvage(aVolume(copies, COPIES_MISSING, record), [A, B, C, D]).ranking.map(
      ({ replicaId, verdict }) => `${replicaId} ${verdict}`,
    );

  test('usable ones first, then what is behind, was never full, and does not answer', () => {
    const copies = [copy(A, { record: undefined }), copy(C), copy(D, { record: copyRecord(2, 9, [D]) })];
    expect(ranked(copies)).toEqual(['c usable', 'd stale', 'a unfilled', 'b missing']);
  });

  test.each<{ name: string; a: Partial<SurveyedCopy>; b: Partial<SurveyedCopy>; first: string }>([
    { name: 'the higher record', a: {}, b: { record: LATER, isClean: false, writtenBytes: 1 }, first: 'b' },
    { name: 'the equal one', a: { isClean: false, writtenBytes: 900 }, b: {}, first: 'b' },
    { name: 'the fuller one', a: {}, b: { writtenBytes: 101 }, first: 'b' },
    { name: 'the smaller id', a: {}, b: {}, first: 'a' },
  ])('of two usable ones $name comes first', ({ a, b, first }) => {
    expect(ranked([copy(A, a), copy(B, b)])[0]).toBe(`${first} usable`);
  });
});

test('the risk names the members that are left out, and what was in flight', () => {
  const volume = aVolume([copy(C, { isClean: false })]);
  const advice = adviseSalvage(volume, [A, B, C]);
  expect(salvageRisk(advice, [C], volume.survey)).toBe(
    'writes that 2 other members acknowledged without this copy are lost; writes in flight when it stopped may be there in part',
  );
  expect(salvageRisk(advice, [B, C], aVolume([copy(B), copy(C)]).survey)).toBe(
    'writes that 1 other member acknowledged without these copies are lost',
  );
});

test('copies that no start has asked are not told as missing', () => {
  const { ranking } = adviseSalvage({ record: ALL, survey: undefined }, [A, B]);
  expect(ranking.map(({ verdict }) => verdict)).toEqual(['unasked', 'unasked']);
});
