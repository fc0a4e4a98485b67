import { type CopyRecord, copyRecord } from '@holdfast/core/model/copy-record.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { AN_OWNER, aVolume, NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { attachingOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { VolumeView } from '../model/views.js';
import { decideStart } from './decide-start.js';
import type { Refusals } from './start-obstacles.js';

const copyOn = (node: string) => asId<ReplicaId>(`on-${node}-disk`);
const A = copyOn('a');
const B = copyOn('b');
const C = copyOn('c');
const ALL = copyRecord(1, 1, [A, B, C]);

/** A volume with copies on nodes a, b and c, held by a. */
function view(nodes: Record<string, NodePart>, since?: Date): VolumeView {
  const attention =
    since === undefined ? undefined : { code: 'WaitingForCopies', message: '', cures: [], since };
  return aVolumeView({
    volume: aVolume(AN_OWNER, {
      lifecycle: attachingOn('a'),
      attention,
    }),
    replicas: ['a', 'b', 'c'].map((name) => aReplicaOn(`${name}-disk`)),
    fleet: aFleet({ a: {}, b: {}, c: {}, ...nodes }),
  });
}

const found = (...ids: ReplicaId[]) => new Map<ReplicaId, CopyRecord>(ids.map((id) => [id, ALL]));

describe('decideStart', () => {
  test('all copies answer: it goes on at once', () => {
    expect(decideStart(view({}), found(A, B, C), NOON)).toMatchObject({ kind: 'go', current: [A, B, C] });
  });

  test('after a restore of the database one on a node long dead does hold it up, and a user is told why', () => {
    const { volume, ...rest } = view({ c: { ready: false } }, NOON);
    const restored = { ...rest, volume: { ...volume, restoredAt: NOON } };
    const decision = decideStart(restored, found(A, B), secondsAfterNoon(60));
    expect(decision).toMatchObject({ kind: 'wait', attention: { code: 'CopiesMissing' } });
    expect(decision.kind === 'wait' && decision.attention.message).toContain(
      '2 found, missing the copy on c; since the database was restored from a backup (2026-01-01T12:00:00.000Z) all have to answer once',
    );
    expect(decideStart(restored, found(A, B, C), secondsAfterNoon(60))).toMatchObject({ kind: 'go' });
  });

  describe('where node b alone says that the copies elsewhere are stale', () => {
    const claiming = () => found(A, C).set(B, copyRecord(1, 9, [B]));

    test('it waits, names the node, and says what a user may do', () => {
      const start = view({}, NOON);
      const decision = decideStart(
        { ...start, volume: { ...start.volume, record: ALL } },
        claiming(),
        secondsAfterNoon(60),
      );
      expect(decision).toMatchObject({ kind: 'wait', claimedBy: [B], attention: { code: 'CopiesMissing' } });
      const { message, cures } = decision.kind === 'wait' ? decision.attention : { message: '', cures: [] };
      expect(message).toBe(
        'node b alone says that others (the copy on a, the copy on c) miss writes: its copy holds a record (epoch 1, generation 9) ' +
          'that neither the database nor any other copy that answers knows',
      );
      expect(cures).toHaveLength(2);
    });

    test('it goes on when its engine is to run on that node', () => {
      const start = view({});
      const volume = { ...start.volume, record: ALL, lifecycle: attachingOn('b') };
      const decision = decideStart({ ...start, volume }, claiming(), secondsAfterNoon(60));
      expect(decision).toMatchObject({ kind: 'go', current: [B] });
    });
  });

  test('one on a node long dead does not hold it up', () => {
    const dead = view({ c: { ready: false } });
    expect(decideStart(dead, found(A, B), secondsAfterNoon(60))).toMatchObject({
      kind: 'go',
      current: [A, B],
    });
  });

  test('one on a ready node that did not answer is waited for, a little', () => {
    expect(decideStart(view({}), found(A, B), secondsAfterNoon(60))).toMatchObject({
      kind: 'wait',
      attention: { code: 'WaitingForCopies', since: secondsAfterNoon(60) },
    });
    expect(decideStart(view({}, NOON), found(A, B), secondsAfterNoon(11))).toMatchObject({ kind: 'wait' });
    expect(decideStart(view({}, NOON), found(A, B), secondsAfterNoon(12))).toMatchObject({ kind: 'go' });
  });

  test('while no cluster starts, one that did not answer is waited for less long', () => {
    expect(decideStart(view({}, secondsAfterNoon(60)), found(A, B), secondsAfterNoon(61))).toMatchObject({
      kind: 'wait',
    });
    expect(decideStart(view({}, secondsAfterNoon(60)), found(A, B), secondsAfterNoon(62))).toMatchObject({
      kind: 'go',
    });
  });

  test('in a cluster that is just starting, all are waited for', () => {
    const starting = view({ c: { ready: false } });
    expect(decideStart(starting, found(A, B), secondsAfterNoon(5))).toMatchObject({ kind: 'wait' });
  });

  test('too few never go on without a user, and it says which are missing', () => {
    const dead = view({ b: { ready: false }, c: { ready: false } }, NOON);
    expect(decideStart(dead, found(A), secondsAfterNoon(600))).toMatchObject({
      kind: 'wait',
      attention: { code: 'CopiesMissing', message: expect.stringContaining('the copy on b, the copy on c') },
    });
  });

  describe('too few copies', () => {
    const dead = view({ c: { ready: false } }, NOON);
    const attentionOf = (copies: ReplicaId[], refused: Refusals, known = ALL) => {
      const volume = { ...dead.volume, record: known };
      const decision = decideStart({ ...dead, volume }, found(...copies), secondsAfterNoon(600), refused);
      return decision.kind === 'wait' ? decision.attention : undefined;
    };
    const full = { code: 'disk.no_space' as const, message: 'the disk is full' };

    test('because disks are full: they are named, and no salvage is offered', () => {
      const attention = attentionOf([], new Map([A, B].map((id) => [id, full])));
      expect(attention?.code).toBe('DisksFull');
      expect(attention?.message).toMatch(/a-disk.* of a.*b-disk.* of b/);
      expect(attention?.cures.join()).toMatch(/free space on disk a-disk/);
      expect(attention?.cures.join()).not.toMatch(/salvage/);
    });

    test('of which one is full and others are gone: both are told', () => {
      const attention = attentionOf([], new Map([[A, full]]));
      expect(attention?.code).toBe('CopiesMissing');
      expect(attention?.message).toContain('missing the copy on b, the copy on c');
      expect(attention?.cures[0]).toMatch(/free space on disk a-disk/);
    });

    test('while stale ones answer: these are told as stale', () => {
      const attention = attentionOf([A, B], new Map(), copyRecord(2, 1, [C]));
      expect(attention?.message).toContain('0 found, and 2 stale (the copy on a, the copy on b)');
    });

    test('one that answers with something else says what', () => {
      const rot = { code: 'replica.corrupt' as const, message: 'its metadata is damaged' };
      expect(attentionOf([A], new Map([[B, rot]]))?.message).toContain(
        'the copy on b: its metadata is damaged',
      );
    });
  });
});
