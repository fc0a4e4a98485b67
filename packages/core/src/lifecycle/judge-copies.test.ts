import { AN_OWNER, anIdleVolume, NOON } from '@holdfast/testkit/builders.js';
import { aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import { copyRecord } from '../model/copy-record.js';
import { asId, type NodeId, type ReplicaId } from '../model/ids.js';
import { SeededGenerator } from '../model/seeded-generator.js';
import { judgeRead, judgeSums, type ReadCopy } from './judge-copies.js';

const id = (name: string) => asId<ReplicaId>(name);
const summed = (sums: string) => [...sums].map((checksum, index) => ({ replicaId: `r${index}`, checksum }));

describe('sums of copies', () => {
  test.each([
    { sums: 'xxx', of: 3, want: { kind: 'equal' } },
    { sums: 'x', of: 3, want: { kind: 'equal' } },
    { sums: 'xxy', of: 3, want: { kind: 'damaged', damaged: ['r2'] } },
    { sums: 'xy', of: 2, want: { kind: 'tie' } },
    { sums: 'xyz', of: 3, want: { kind: 'tie' } },
    { sums: 'xy', of: 3, want: { kind: 'tie' } },
    { sums: 'xxy', of: 5, want: { kind: 'tie' } },
    { sums: 'xxxyz', of: 5, want: { kind: 'damaged', damaged: ['r3', 'r4'] } },
    { sums: 'xxyy', of: 4, want: { kind: 'tie' } },
  ])('the copies $sums of $of give $want.kind', ({ sums, of, want }) => {
    expect(judgeSums(summed(sums), of)).toEqual(want);
  });

  test('a majority and the last copy are never failed, whatever copies hold', () => {
    const random = new SeededGenerator(7);
    for (let round = 0; round < 2_000; round += 1) {
      const count = 1 + Math.floor(random.next() * 7);
      const unread = Math.floor(random.next() * 4);
      const copies = summed(
        Array.from({ length: count }, () => 'xyz'[Math.floor(random.next() * 3)]).join(''),
      );
      const verdict = judgeSums(copies, count + unread);
      if (verdict.kind !== 'damaged') continue;
      const kept = copies.filter(({ replicaId }) => !verdict.damaged.includes(replicaId));
      expect(new Set(kept.map(({ checksum }) => checksum)).size).toBe(1);
      expect(kept.length * 2).toBeGreaterThan(count + unread);
    }
  });
});

describe('copies of a detached volume', () => {
  const newest = copyRecord(4, 2, ['a', 'b', 'c'].map(id));
  const volume = anIdleVolume(AN_OWNER, { epoch: 4, record: newest });
  const replicas = ['a', 'b', 'c'].map((name) =>
    aReplicaOn(`${name}-disk`, { id: id(name), nodeId: asId<NodeId>(name) }),
  );
  const read = (name: string, checksum: string, part: Partial<ReadCopy> = {}): ReadCopy => ({
    replicaId: id(name),
    checksum,
    record: newest,
    clean: true,
    ...part,
  });
  const kindOf = (copies: readonly ReadCopy[], part: Partial<typeof volume> = {}) =>
    judgeRead({ volume: { ...volume, ...part }, replicas }, copies).verdict;

  test('the odd one of three is damaged', () => {
    expect(kindOf([read('a', 'x'), read('b', 'y'), read('c', 'x')])).toEqual({
      kind: 'damaged',
      damaged: ['b'],
    });
  });

  test.each<{ name: string; copies: ReadCopy[]; part?: Partial<typeof volume> }>([
    {
      name: 'one that may hold a write in flight',
      copies: [read('a', 'x'), read('b', 'y', { clean: false }), read('c', 'x')],
    },
    {
      name: 'an agent that says nothing of its copy',
      copies: [read('a', 'x'), read('b', 'y', { clean: undefined }), read('c', 'x')],
    },
    {
      name: 'a database that was restored',
      copies: [read('a', 'x'), read('b', 'y'), read('c', 'x')],
      part: { restoredAt: NOON },
    },
    {
      name: 'too few that are known to be current',
      copies: [read('a', 'x'), read('b', 'y', { record: null }), read('c', 'x', { record: null })],
    },
  ])('nothing is judged with $name', ({ copies, part }) => {
    expect(kindOf(copies, part)).toMatchObject({ kind: 'unjudged' });
  });

  test('copies that are behind are no majority against the current one', () => {
    const alone = copyRecord(4, 3, [id('a')]);
    const verdict = kindOf([read('a', 'x', { record: alone }), read('b', 'y'), read('c', 'y')], {
      record: alone,
    });
    expect(verdict).toEqual({ kind: 'equal' });
  });
});
