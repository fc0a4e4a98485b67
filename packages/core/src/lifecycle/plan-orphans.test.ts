import { secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import {
  asId,
  type ClusterId,
  type DiskId,
  type OrganizationId,
  type ProjectId,
  type VolumeId,
} from '../model/ids.js';
import type { Orphan, OrphanInContext, OrphanRemoval } from '../model/orphan.js';
import type { Robustness } from '../model/volume.js';
import { effectiveSettings } from '../settings/effective.js';
import { ORPHAN_DESCRIPTIONS_MAX, ORPHAN_REMOVALS_MAX, planOrphans } from './plan-orphans.js';

const NOON = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number) => secondsAfterNoon(-seconds);

const A_DESCRIPTION = {
  volumeId: asId<VolumeId>('v'),
  diskId: asId<DiskId>('d'),
  sizeBytes: 4096,
  epoch: 1,
  grantId: null,
  isRebuildTarget: false,
  secret: 'the key of the copy',
  volume: null,
} satisfies Orphan['description'];

/** Seen for an hour, announced, on a disk that is well; its volume is gone. */
function anOrphan(part: Partial<Orphan> = {}, context: Partial<OrphanInContext> = {}): OrphanInContext {
  const orphan: Orphan = {
    id: asId('o-1'),
    clusterId: asId('c'),
    nodeId: asId('n'),
    diskId: asId('d'),
    replicaId: asId('r'),
    volumeId: asId('v'),
    writtenBytes: 4096,
    record: undefined,
    description: A_DESCRIPTION,
    firstSeenAt: ago(3600),
    announcedAt: ago(3590),
    removal: undefined,
    version: 1,
    ...part,
  };
  return { orphan, nodeName: 'node-1', diskName: 'disk-1', isReachable: true, volume: undefined, ...context };
}

function asked(part: Partial<OrphanRemoval> = {}): { removal: OrphanRemoval } {
  return {
    removal: { by: 'person', requestedAt: ago(5), claimedAt: undefined, trouble: undefined, ...part },
  };
}

const AUTOMATIC = { 'orphan-resource-auto-deletion': 'instance; replica-data' };

function planned(items: OrphanInContext[], overrides: Record<string, unknown> = {}): string[] {
  const steps = planOrphans({ settings: effectiveSettings(overrides), orphans: items }, NOON);
  return steps.map(({ kind, item }) => `${kind} ${item.orphan.id}`);
}

describe('planOrphans', () => {
  test.each<{ name: string; seconds: number; want: string[] }>([
    { name: 'was seen only now', seconds: 9.9, want: [] },
    { name: 'has been seen for ten seconds', seconds: 10, want: ['announce o-1'] },
  ])('one that $name', ({ seconds, want }) => {
    expect(planned([anOrphan({ firstSeenAt: ago(seconds), announcedAt: undefined })])).toEqual(want);
  });

  test.each<{ name: string; item: OrphanInContext; want: string[] }>([
    {
      name: 'has not said what it stores is asked',
      item: anOrphan({ description: undefined }),
      want: ['describe o-1'],
    },
    {
      name: 'is out of reach is not asked',
      item: anOrphan({ description: undefined }, { isReachable: false }),
      want: [],
    },
    { name: 'has said it is not asked again', item: anOrphan(), want: [] },
  ])('one that $name', ({ item, want }) => {
    expect(planned([item])).toEqual(want);
  });

  test.each<{ name: string; item: OrphanInContext; overrides?: Record<string, unknown>; want: boolean }>([
    { name: 'no user wants removed stays', item: anOrphan(), want: false },
    { name: 'a person wants removed goes', item: anOrphan(asked()), want: true },
    { name: 'is on a disk out of reach stays', item: anOrphan(asked(), { isReachable: false }), want: false },
    {
      name: 'has not been announced stays',
      item: anOrphan({ ...asked(), announcedAt: undefined, firstSeenAt: ago(1) }),
      want: false,
    },
    {
      name: 'was refused a moment ago waits',
      item: anOrphan(asked({ trouble: { message: 'busy', at: ago(29) } })),
      want: false,
    },
    {
      name: 'was refused a while ago is tried again',
      item: anOrphan(asked({ trouble: { message: 'busy', at: ago(30) } })),
      want: true,
    },
    { name: 'the setting names goes', item: anOrphan(), overrides: AUTOMATIC, want: true },
    {
      name: 'the setting does not name stays',
      item: anOrphan(),
      overrides: { 'orphan-resource-auto-deletion': 'instance' },
      want: false,
    },
    {
      name: 'is within its grace time stays',
      item: anOrphan({ firstSeenAt: ago(299) }),
      overrides: AUTOMATIC,
      want: false,
    },
    {
      name: 'is past its grace time goes',
      item: anOrphan({ firstSeenAt: ago(300) }),
      overrides: AUTOMATIC,
      want: true,
    },
    {
      name: 'has not said what it stores is not removed by the setting',
      item: anOrphan({ description: undefined }, { isReachable: true }),
      overrides: AUTOMATIC,
      want: false,
    },
    {
      name: 'is of another cluster is not removed by the setting',
      item: anOrphan({ description: aForeignDescription() }),
      overrides: AUTOMATIC,
      want: false,
    },
    {
      name: 'is of another cluster is removed for a person',
      item: anOrphan({ ...asked(), description: aForeignDescription() }),
      want: true,
    },
    {
      name: 'is out of reach is not removed by the setting',
      item: anOrphan({}, { isReachable: false }),
      overrides: AUTOMATIC,
      want: false,
    },
    {
      name: 'the setting began with, and does not name any more, stays',
      item: anOrphan(asked({ by: 'setting', claimedAt: ago(60) })),
      want: false,
    },
  ])('one that $name', ({ item, overrides, want }) => {
    expect(planned([item], overrides).filter((step) => step !== 'describe o-1')).toEqual(
      want ? ['remove o-1'] : [],
    );
  });

  test.each<{ robustness: Robustness; bySetting: boolean }>([
    { robustness: 'healthy', bySetting: true },
    { robustness: 'degraded', bySetting: false },
    { robustness: 'faulted', bySetting: false },
    { robustness: 'unknown', bySetting: false },
  ])(
    'of a volume that is $robustness: by the setting $bySetting, by a user always',
    ({ robustness, bySetting }) => {
      const volume = { name: 'pg-data', robustness };
      expect(planned([anOrphan({}, { volume })], AUTOMATIC)).toEqual(bySetting ? ['remove o-1'] : []);
      expect(planned([anOrphan(asked(), { volume })])).toEqual(['remove o-1']);
    },
  );

  test('passes ask in turn what copies store, so that those that never say keep none from being asked', () => {
    const items = Array.from({ length: 2 * ORPHAN_DESCRIPTIONS_MAX + 20 }, (_, index) =>
      anOrphan({ id: asId(`o-${String(index).padStart(3, '0')}`), description: undefined }),
    );
    const view = { settings: effectiveSettings({}), orphans: items };
    const passes = [0, 5, 10].map((seconds) => planOrphans(view, secondsAfterNoon(seconds)));
    for (const steps of passes) expect(steps).toHaveLength(ORPHAN_DESCRIPTIONS_MAX);
    expect(new Set(passes.flat().map(({ item }) => item.orphan.id)).size).toBe(items.length);
  });

  test('a pass removes a bounded number, those that a person wants gone first, then the oldest', () => {
    const many = Array.from({ length: ORPHAN_REMOVALS_MAX + 5 }, (_, index) =>
      anOrphan({ id: asId(`o-${index}`), firstSeenAt: ago(4000 - index) }),
    );
    const last = anOrphan({ id: asId('asked'), firstSeenAt: ago(400), ...asked() });
    const plan = planned([...many.reverse(), last], AUTOMATIC);
    expect(plan).toHaveLength(ORPHAN_REMOVALS_MAX);
    expect(plan.slice(0, 3)).toEqual(['remove asked', 'remove o-0', 'remove o-1']);
  });
});

/** Description of a copy whose disk was in a node of another cluster. */
function aForeignDescription(): Orphan['description'] {
  const volume = {
    name: 'theirs',
    clusterId: asId<ClusterId>('another'),
    organizationId: asId<OrganizationId>('o'),
    projectId: asId<ProjectId>('p'),
    numberOfReplicas: 1,
    dataLocality: 'disabled' as const,
    nodeSelector: [],
    diskSelector: [],
  };
  return { ...A_DESCRIPTION, volume };
}
