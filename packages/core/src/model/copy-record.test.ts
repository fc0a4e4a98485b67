import { describe, expect, test } from '@jest/globals';
import {
  type CopyRecord,
  compareRecords,
  copyRecord,
  decideCurrentCopies,
  mayShrinkAlone,
} from './copy-record.js';
import { asId, type ReplicaId } from './ids.js';

const id = (name: string) => asId<ReplicaId>(name);
const [A, B, C] = [id('a'), id('b'), id('c')];
const record = (epoch: number, generation: number, ...members: ReplicaId[]) =>
  copyRecord(epoch, generation, members);

describe('compareRecords', () => {
  test('orders by epoch before data generation', () => {
    expect(compareRecords(record(2, 1), record(1, 9))).toBeGreaterThan(0);
    expect(compareRecords(record(2, 1), record(2, 2))).toBeLessThan(0);
  });
});

describe('mayShrinkAlone', () => {
  test.each([
    { last: [A, B, C], next: [A, B], want: true },
    { last: [A, B, C], next: [A], want: false },
    { last: [A, B], next: [A], want: false },
    { last: [A], next: [], want: false },
    { last: [A], next: [A, B], want: true },
    // One leaves while another joins: the one that joins is no witness of the last record.
    { last: [B, C], next: [A, B], want: false },
  ])('$last → $next', ({ last, next, want }) => {
    expect(mayShrinkAlone(last, next)).toBe(want);
  });
});

describe('decideCurrentCopies', () => {
  const decide = (known: CopyRecord | undefined, found: [ReplicaId, CopyRecord][]) =>
    decideCurrentCopies({ known, found: new Map(found) });

  test('a copy named in the highest record is current even without having written it', () => {
    const decision = decide(undefined, [
      [A, record(2, 2, A, B)],
      [B, record(2, 1, A, B, C)],
    ]);
    expect(decision).toMatchObject({ kind: 'go', current: [A, B], stale: [] });
  });

  test('a copy that the highest record leaves out is stale', () => {
    const decision = decide(undefined, [
      [A, record(2, 2, A, B)],
      [B, record(2, 2, A, B)],
      [C, record(2, 1, A, B, C)],
    ]);
    expect(decision).toMatchObject({ kind: 'go', current: [A, B], stale: [C] });
  });

  test('one of three may not go on: the other two may have gone on without it', () => {
    expect(decide(undefined, [[C, record(2, 1, A, B, C)]])).toMatchObject({ kind: 'wait', missing: [A, B] });
  });

  test('one of two may: neither could have gone on alone without Postgres', () => {
    expect(decide(record(2, 1, A, B), [[B, record(2, 1, A, B)]])).toMatchObject({ kind: 'go', current: [B] });
  });

  test('a record that only Postgres has still decides', () => {
    const decision = decide(record(2, 2, A), [
      [A, record(2, 1, A, B)],
      [B, record(2, 1, A, B)],
    ]);
    expect(decision).toMatchObject({ kind: 'go', current: [A], stale: [B] });
  });

  test('copies without any record are not believed', () => {
    expect(decide(undefined, [])).toMatchObject({ kind: 'wait', code: 'TooFewCopies' });
  });
});
