import { NOON } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import { asId, type ClusterId, type NodeId, type VolumeId } from '../model/ids.js';
import type { AdmissionView, TaskVolume } from '../model/views.js';
import { effectiveSettings } from '../settings/effective.js';
import { planAdmissions } from './plan-admissions.js';

const LIMIT = 'snapshot-heavy-task-concurrent-limit';
const HOUR_MS = 3600 * 1000;
/** The check is due at every midnight; it is noon. */
const CRON = { 'snapshot-data-integrity-cronjob': '@daily' };
const LONG_AGO = new Date(NOON.getTime() - 48 * HOUR_MS);

const on = (volumeId: string, ...nodes: string[]): TaskVolume => ({
  volumeId: asId<VolumeId>(volumeId),
  nodeIds: nodes.map((node) => asId<NodeId>(node)),
});
const waits = (volume: TaskVolume, hoursAgo: number) => ({
  ...volume,
  since: new Date(NOON.getTime() - hoursAgo * HOUR_MS),
});
const checked = (volume: TaskVolume, checkedAt = NOON, askedHoursAgo?: number) => ({
  ...volume,
  dataEngine: 'v1' as const,
  checkedAt,
  askedAt: askedHoursAgo === undefined ? undefined : new Date(NOON.getTime() - askedHoursAgo * HOUR_MS),
});

type Line = Partial<AdmissionView['tasks']>;

function viewOf(line: Line, settings: AdmissionView['settings']): AdmissionView {
  return {
    clusterId: asId<ClusterId>('c'),
    settings,
    nodes: [],
    queued: [],
    running: [],
    ending: [],
    blocked: [],
    quotas: [],
    rebuilt: [],
    tasks: { admitted: [], waiting: [], candidates: [], ...line },
  };
}

function granted(line: Line, limit: number): string[] {
  const view = viewOf(line, effectiveSettings({ [LIMIT]: limit, ...CRON }));
  return planAdmissions(view, NOON).tasks.map(({ kind, volumeId }) => `${kind} ${volumeId}`);
}

describe('task admissions', () => {
  test.each<{ name: string; line: Line; limit: number; want: string[] }>([
    {
      name: 'no more volumes of a node than may, and other nodes go on',
      line: { waiting: [waits(on('a', 'n1'), 3), waits(on('b', 'n1'), 2), waits(on('c', 'n2'), 1)] },
      limit: 1,
      want: ['layers a', 'layers c'],
    },
    {
      name: 'one that is admitted counts',
      line: { admitted: [on('x', 'n1')], waiting: [waits(on('a', 'n1'), 1)] },
      limit: 1,
      want: [],
    },
    {
      name: '0 is no limit',
      line: { admitted: [on('x', 'n1')], waiting: [waits(on('a', 'n1'), 1), waits(on('b', 'n1'), 1)] },
      limit: 0,
      want: ['layers a', 'layers b'],
    },
    {
      name: 'no volume behind the first that waits takes a node of its',
      line: {
        admitted: [on('x', 'n1')],
        waiting: [waits(on('wide', 'n1', 'n2'), 2), waits(on('b', 'n2'), 1)],
      },
      limit: 1,
      want: [],
    },
    {
      name: 'a purge goes before a check that has been due since midnight',
      line: { waiting: [waits(on('a', 'n1'), 1)], candidates: [checked(on('b', 'n1'), LONG_AGO)] },
      limit: 1,
      want: ['layers a'],
    },
    {
      name: 'a first hash goes before a periodic one, and behind a purge of the last hour',
      line: {
        waiting: [waits(on('a', 'n1'), 1)],
        candidates: [checked(on('b', 'n1', 'n2'), NOON, 1), checked(on('c', 'n2'), LONG_AGO)],
      },
      limit: 1,
      want: ['layers a'],
    },
    {
      name: 'a purge of half an hour goes before a first hash of an hour',
      line: { waiting: [waits(on('a', 'n1'), 0.5)], candidates: [checked(on('b', 'n1'), NOON, 1)] },
      limit: 1,
      want: ['layers a'],
    },
    {
      name: 'a first hash that has waited for two hours goes before a purge of now',
      line: { waiting: [waits(on('a', 'n1'), 0)], candidates: [checked(on('b', 'n1'), NOON, 2)] },
      limit: 1,
      want: ['hashing b'],
    },
    {
      name: 'what is not due and was not asked for has no place in the line',
      line: { candidates: [checked(on('b', 'n1'))] },
      limit: 1,
      want: [],
    },
    {
      name: 'a volume that hashes may be purged, since it counts already',
      line: { admitted: [on('a', 'n1')], waiting: [waits(on('a', 'n1'), 1)] },
      limit: 1,
      want: ['layers a'],
    },
    {
      name: 'one that is purged does not begin to hash',
      line: { admitted: [on('a', 'n1')], candidates: [checked(on('a', 'n1'), LONG_AGO)] },
      limit: 5,
      want: [],
    },
  ])('$name', ({ line, limit, want }) => {
    expect(granted(line, limit)).toEqual(want);
  });

  test('a check that has been due for a day goes before purges that keep coming', () => {
    const candidates = [checked(on('check', 'n1'), new Date(NOON.getTime() - 72 * HOUR_MS))];
    const cron = { 'snapshot-data-integrity-cronjob': '0 11 30 12 *' };
    const settings = effectiveSettings({ [LIMIT]: 1, ...cron });
    const view = viewOf({ waiting: [waits(on('a', 'n1'), 0.5)], candidates }, settings);
    // It was due on the 30th at 11:00 and is now behind nothing requested after the 31st at 11:00.
    expect(planAdmissions(view, NOON).tasks).toEqual([{ kind: 'hashing', volumeId: 'check', isPass: true }]);
  });

  test('volumes of each data engine are checked at the times of their own', () => {
    const candidates = [
      checked(on('of-v1', 'n1'), LONG_AGO),
      { ...checked(on('of-v2', 'n2'), LONG_AGO), dataEngine: 'v2' as const },
    ];
    const due = (crons: Record<'v1' | 'v2', string>) => {
      const settings = effectiveSettings({ 'snapshot-data-integrity-cronjob': crons });
      return planAdmissions(viewOf({ candidates }, settings), NOON).tasks.map(({ volumeId }) => volumeId);
    };
    expect(due({ v1: '@daily', v2: '0 0 1 6 *' })).toEqual(['of-v1']);
    expect(due({ v1: '0 0 1 6 *', v2: '@daily' })).toEqual(['of-v2']);
  });
});
