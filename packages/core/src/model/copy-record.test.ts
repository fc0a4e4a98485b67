import { describe, expect, test } from '@jest/globals';
import {
  type CopyRecord,
  type CopySurvey,
  compareRecords,
  copyRecord,
  decideCurrentCopies,
  mayShrinkAlone,
} from './copy-record.js';
import { asId, type NodeId, type ReplicaId } from './ids.js';

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
    // One leaves while another joins: the joining one is no witness of the last record.
    { last: [B, C], next: [A, B], want: false },
  ])('from the members $last to $next: $want', ({ last, next, want }) => {
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

  test.each([
    { name: 'one of two', answering: [B], want: { kind: 'wait', missing: [A] } },
    { name: 'two of three', answering: [B, C], want: { kind: 'wait', missing: [A] } },
    { name: 'all', answering: [A, B, C], want: { kind: 'go', current: [A, B, C] } },
  ])('after a restore of the database only all members may go on: $name', ({ name, answering, want }) => {
    const members = name === 'one of two' ? [A, B] : [A, B, C];
    const known = record(2, 1, ...members);
    const found = new Map(answering.map((id) => [id, known]));
    expect(decideCurrentCopies({ known, found, isRestored: true })).toMatchObject(want);
  });

  test('after a restore a member that was set back has answered', () => {
    const newest = copyRecord(2, 2, [A, B], { epoch: 2, dataGeneration: 1 });
    const found = new Map([
      [A, newest],
      [B, record(1, 3, A, B)],
    ]);
    expect(decideCurrentCopies({ known: newest, found, isRestored: true })).toMatchObject({
      kind: 'go',
      current: [A],
    });
  });

  test('a record that only Postgres has still decides', () => {
    const decision = decide(record(2, 2, A), [
      [A, record(2, 1, A, B)],
      [B, record(2, 1, A, B)],
    ]);
    expect(decision).toMatchObject({ kind: 'go', current: [A], stale: [B] });
  });

  describe('a member whose record is older than one that all members had', () => {
    const durable = { epoch: 2, dataGeneration: 1 };
    const newest = copyRecord(2, 2, [A, B, C], durable);

    test('is stale, and the others go on', () => {
      const decision = decide(undefined, [
        [A, newest],
        [B, newest],
        [C, record(1, 3, A, B, C)],
      ]);
      expect(decision).toMatchObject({ kind: 'go', current: [A, B], stale: [C], setBack: [C] });
    });

    test('counts as one that does not answer', () => {
      const decision = decide(undefined, [
        [A, newest],
        [C, record(1, 3, A, B, C)],
      ]);
      expect(decision).toMatchObject({ kind: 'wait', missing: [B], setBack: [C] });
    });

    test('is found by what Postgres knows to be complete, too', () => {
      const old = record(1, 3, A, B);
      const written = record(2, 1, A, B);
      const known = copyRecord(2, 1, [A, B], { epoch: 2, dataGeneration: 1 });
      const found: [ReplicaId, CopyRecord][] = [
        [A, written],
        [B, old],
      ];
      expect(decide(known, found)).toMatchObject({ kind: 'go', current: [A], setBack: [B] });
      expect(decide(written, found)).toMatchObject({ kind: 'go', current: [A, B] });
    });

    test('is the older one of two only where the newest record says so', () => {
      const salvaged = record(3, 0, C);
      const decision = decide(salvaged, [
        [C, record(1, 3, A, B, C)],
        [A, newest],
      ]);
      expect(decision).toMatchObject({ kind: 'go', current: [C], stale: [A] });
    });
  });

  describe('where one node alone says that copies elsewhere are stale', () => {
    const KNOWN = record(5, 1, A, B, C);
    const nodeOf = new Map([A, B, C].map((copy) => [copy, asId<NodeId>(`node-${copy}`)]));
    const decideWith = (
      found: [ReplicaId, CopyRecord][],
      { known = KNOWN, ...survey }: Partial<CopySurvey> & { holder?: NodeId } = {},
    ) => {
      const places = { nodeOf, holderId: survey.holder };
      return decideCurrentCopies({ known, found: new Map(found), places, ...survey });
    };
    const alone = record(5, 99, A);
    const others: [ReplicaId, CopyRecord][] = [
      [B, KNOWN],
      [C, KNOWN],
    ];
    const waiting = { kind: 'wait', code: 'OneNodesWord', claimedBy: [A] };

    test('they are not: it waits', () => {
      expect(decideWith([[A, alone], ...others])).toMatchObject({
        ...waiting,
        record: KNOWN,
        claim: alone,
        leftOut: [B, C],
      });
      expect(decideCurrentCopies({ known: KNOWN, found: new Map([[A, alone], ...others]) })).toMatchObject({
        kind: 'go',
        current: [A],
      });
    });

    test('also those that do not answer are not', () => {
      expect(decideWith([[A, alone]])).toMatchObject({ ...waiting, leftOut: [B, C] });
      expect(decideWith([[A, record(5, 99, A, B)]])).toMatchObject({ ...waiting, leftOut: [C] });
    });

    test('also by what all are said to have stored', () => {
      const durable = { epoch: 5, dataGeneration: 98 };
      const claim = copyRecord(5, 99, [A, B], durable);
      const two = { known: record(5, 1, A, B) };
      expect(
        decideWith(
          [
            [A, claim],
            [B, two.known],
          ],
          two,
        ),
      ).toMatchObject({ ...waiting, leftOut: [B] });
      // As new as the record of all, and said to be older than what all have stored.
      const boast = copyRecord(5, 1, [A, B], durable);
      expect(
        decideWith(
          [
            [A, boast],
            [B, two.known],
          ],
          two,
        ),
      ).toMatchObject({ ...waiting, leftOut: [B] });
    });

    test('also by members that it makes up, which a user would be asked about', () => {
      const [X, Y, Z] = [id('x'), id('y'), id('z')];
      expect(decideWith([[A, record(5, 99, A, X, Y, Z)], ...others])).toMatchObject(waiting);
    });

    test('a copy on another node that knows the record too bears it out', () => {
      const dropped = record(5, 2, A, B);
      expect(
        decideWith([
          [A, dropped],
          [B, dropped],
          [C, KNOWN],
        ]),
      ).toMatchObject({
        kind: 'go',
        current: [A, B],
        stale: [C],
      });
    });

    test('two copies on that node are one word', () => {
      const dropped = record(5, 2, A, B);
      const sameNode = new Map([A, B].map((copy) => [copy, asId<NodeId>('node-a')])).set(C, asId('node-c'));
      const found = new Map([A, B].map((copy) => [copy, dropped])).set(C, KNOWN);
      const places = { nodeOf: sameNode, holderId: undefined };
      expect(decideCurrentCopies({ known: KNOWN, found, places })).toMatchObject({
        kind: 'wait',
        code: 'OneNodesWord',
        claimedBy: [A, B],
      });
    });

    test('the node of the engine is believed: it may write to every copy', () => {
      expect(decideWith([[A, alone], ...others], { holder: asId('node-a') })).toMatchObject({
        kind: 'go',
        current: [A],
      });
      expect(decideWith([[A, alone], ...others], { holder: asId('node-b') })).toMatchObject(waiting);
    });

    test('after a restore of the database copies know what it has forgotten', () => {
      expect(decideWith([[A, alone], ...others], { isRestored: true })).toMatchObject({
        kind: 'go',
        current: [A],
      });
    });

    test('what Postgres recorded is borne out by that', () => {
      expect(decideWith([[A, alone], ...others], { known: alone })).toMatchObject({
        kind: 'go',
        current: [A],
      });
    });

    test('a replica that is gone is left out without asking', () => {
      const known = record(5, 1, A, B, id('gone'));
      expect(
        decideWith(
          [
            [A, record(5, 2, A, B)],
            [B, known],
          ],
          { known },
        ),
      ).toMatchObject({ kind: 'go' });
    });

    describe('a member that has not stored the record', () => {
      const begun = record(5, 2, A, B);

      test('shows that nothing was acknowledged under it: all go on', () => {
        expect(decideWith([[A, begun], ...others])).toMatchObject({
          kind: 'go',
          record: { epoch: 5, dataGeneration: 1 },
          current: [A, B, C],
          stale: [],
        });
      });

      test('shows nothing when it may have joined after another record', () => {
        const known = record(5, 1, A, C);
        expect(
          decideWith(
            [
              [A, begun],
              [B, record(4, 1, A, B, C)],
              [C, known],
            ],
            { known },
          ),
        ).toMatchObject({ ...waiting, leftOut: [C] });
      });

      test('shows nothing of a member that was set back', () => {
        const known = record(5, 1, A, B, C);
        const told = copyRecord(5, 3, [A, B, C], { epoch: 5, dataGeneration: 1 });
        expect(
          decideWith(
            [
              [A, told],
              [B, known],
              [C, record(4, 1, A, B, C)],
            ],
            { known },
          ),
        ).toMatchObject({ ...waiting, leftOut: [C] });
      });
    });
  });

  test('copies without any record are not believed', () => {
    expect(decide(undefined, [])).toMatchObject({ kind: 'wait', code: 'TooFewCopies' });
  });
});
