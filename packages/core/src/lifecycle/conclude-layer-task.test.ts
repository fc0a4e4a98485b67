import type { FaultCode } from '@holdfast/core/model/faults.js';
import { aSnapshot, NOON, testId } from '@holdfast/testkit/builders.js';
import { aPurge, aTask } from '@holdfast/testkit/task-builder.js';
import { aGrantedView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { Change } from '../model/changes.js';
import { asId, type SnapshotId } from '../model/ids.js';
import { heavyTaskOf } from '../model/volume-task.js';
import { hashAnswered, layerTaskRefused, purgeBegun, snapshotRefused } from './conclude-layer-task.js';

const GIB = 2 ** 30;
const PURGE = aPurge();
const refusal = (code: FaultCode) => ({ code, message: 'not now' });
const kindsOf = (changes: readonly Change[]) => changes.map(({ kind }) => kind);

test('a purge that has begun is remembered with the attachment that was asked', () => {
  expect(purgeBegun(aGrantedView({ volume: { epoch: 5 } }), PURGE)).toMatchObject([
    { patch: { task: { startedEpoch: 5, trouble: undefined } } },
  ]);
});

describe('a layer task that the engine did not take', () => {
  test.each<{ case: string; code: FaultCode; tries: number; waitsAgain: boolean }>([
    {
      case: 'an answer counts as a try, and the task queues up again',
      code: 'agent.refused',
      tries: 1,
      waitsAgain: true,
    },
    {
      case: 'silence counts as none: it may be under way',
      code: 'agent.unreachable',
      tries: 0,
      waitsAgain: false,
    },
    {
      case: 'a busy engine counts as none: it will be free',
      code: 'engine.busy',
      tries: 0,
      waitsAgain: false,
    },
  ])('$case', ({ code, tries, waitsAgain }) => {
    const [change] = layerTaskRefused(aGrantedView(), aPurge({ admittedAt: NOON }), refusal(code), NOON);
    expect(change).toMatchObject({
      patch: { task: { tries, trouble: { message: 'not now', at: NOON } } },
    });
    const patch = change?.kind === 'volume.patch' ? change.patch : {};
    expect(heavyTaskOf({ task: patch.task })?.admittedAt === undefined).toBe(waitsAgain);
  });

  test.each<{ case: string; code: FaultCode; tries: number }>([
    { case: 'after six refusals', code: 'agent.refused', tries: 5 },
    { case: 'at once when no later try would help', code: 'replica.too_many_layers', tries: 0 },
  ])('is given up $case', ({ code, tries }) => {
    const changes = layerTaskRefused(aGrantedView(), { ...PURGE, tries }, refusal(code), NOON);
    expect(changes).toMatchObject([{ patch: { task: undefined } }, { event: { type: 'VolumeTaskFailed' } }]);
  });

  test('gives the space of an expansion back that is given up', () => {
    const expand = aTask({ kind: 'expand', sizeBytes: 2 * GIB, fromBytes: GIB });
    const changes = layerTaskRefused(aGrantedView(), expand, refusal('request.invalid'), NOON);
    expect(kindsOf(changes)).toEqual([
      'volume.patch',
      'replica.resize',
      'replica.resize',
      'replica.resize',
      'event',
    ]);
    expect(changes[1]).toMatchObject({ sizeBytes: GIB });
  });
});

describe('a snapshot', () => {
  const view = aGrantedView();
  const snapshot = aSnapshot({ volumeId: view.volume.id, name: 'before-upgrade' });

  test('that can never be taken has failed, with an event', () => {
    const changes = snapshotRefused(view, snapshot, refusal('replica.too_many_layers'), NOON);
    expect(changes).toMatchObject([{ patch: { state: 'failed' } }, { event: { type: 'SnapshotFailed' } }]);
  });

  test.each(['disk.no_space', 'disk.file_too_large', 'disk.failed'] as const)(
    'that a disk refuses with %s has failed at once',
    (code) => {
      const changes = snapshotRefused(view, snapshot, refusal(code), NOON);
      expect(changes).toMatchObject([{ patch: { state: 'failed' } }, { event: { type: 'SnapshotFailed' } }]);
    },
  );

  test.each([
    { said: 'not now', want: ['snapshot.patch'] },
    { said: 'something else', want: ['snapshot.patch', 'event'] },
  ])('of a schedule whose one before failed with "$said" is told as $want', ({ said, want }) => {
    const older = aSnapshot({
      volumeId: view.volume.id,
      recurringName: 'hourly',
      state: 'failed',
      trouble: { message: said, at: NOON },
      createdAt: new Date(NOON.getTime() - 3_600_000),
    });
    const own = { ...snapshot, id: asId<SnapshotId>(testId(610)), recurringName: 'hourly' };
    const changes = snapshotRefused(
      { ...view, snapshots: [older, own] },
      own,
      refusal('disk.no_space'),
      NOON,
    );
    expect(kindsOf(changes)).toEqual(want);
  });

  test('that can not be taken now says why, and waits', () => {
    const changes = snapshotRefused(view, snapshot, refusal('agent.unreachable'), NOON);
    expect(changes).toMatchObject([{ patch: { trouble: { message: 'not now', at: NOON } } }]);
    expect(changes[0]).not.toHaveProperty('patch.state');
  });

  test('whose hash has begun remembers the attachment; a refused one says why', () => {
    const hashRequest = { requestedAt: NOON, automatic: false, force: false, startedEpoch: undefined };
    const asked = { ...snapshot, hashRequest };
    expect(hashAnswered(view, asked, undefined, NOON)).toMatchObject([
      { patch: { hashRequest: { startedEpoch: view.volume.epoch } } },
    ]);
    expect(hashAnswered(view, asked, refusal('engine.busy'), NOON)).toMatchObject([
      { patch: { trouble: { message: 'not now' } } },
    ]);
  });
});
