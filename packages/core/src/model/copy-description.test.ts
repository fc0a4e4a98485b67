import { AN_OWNER, aVolume } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import { describeVolume, volumeDescriptionSchema } from './copy-description.js';

describe('the description of a volume on its copies', () => {
  test('has its labels, its schedules, and its answers to settings but for those that follow the cluster', () => {
    const volume = aVolume(AN_OWNER, { labels: { team: 'search' } });
    const described = describeVolume({
      ...volume,
      spec: { ...volume.spec, snapshotMaxCount: 50, replicaAutoBalance: 'ignored' },
      recurringSnapshots: [
        { name: 'nightly', cron: '0 3 * * *', retain: 7, nextRunAt: new Date(0), lastRun: undefined },
      ],
    });
    expect(described).toMatchObject({
      labels: { team: 'search' },
      overrides: { snapshotMaxCount: 50 },
      schedules: [{ name: 'nightly', cron: '0 3 * * *', retain: 7 }],
    });
    expect(described.overrides).not.toHaveProperty('replicaAutoBalance');
    expect(volumeDescriptionSchema.parse(JSON.parse(JSON.stringify(described)))).toEqual(described);
  });

  test.each<{ what: string; part: object; left: object }>([
    { what: 'a label that none may have', part: { labels: { 'a b': 'c' } }, left: { labels: undefined } },
    {
      what: 'an answer that only a newer version knows',
      part: { overrides: { replicaAutoBalance: 'by-moon', snapshotMaxCount: 50, moons: 3 } },
      left: { overrides: { replicaAutoBalance: undefined, snapshotMaxCount: 50 } },
    },
    {
      what: 'a schedule of no time',
      part: { schedules: [{ name: 'never', cron: 'now and then', retain: 7 }] },
      left: { schedules: undefined },
    },
    {
      what: 'what an older version did not store',
      part: {},
      left: {},
    },
  ])('is read without $what', ({ part, left }) => {
    const { labels, overrides, schedules, ...rest } = describeVolume(aVolume(AN_OWNER));
    const read = volumeDescriptionSchema.parse({ ...rest, ...part });
    expect(read).toMatchObject({ ...rest, ...left });
    expect(read.overrides ?? {}).not.toHaveProperty('moons');
  });
});
