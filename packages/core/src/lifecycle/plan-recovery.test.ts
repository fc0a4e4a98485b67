import { A_SPEC, AN_OWNER, aReplica, aVolume, NOON, testId } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import { type CopyDescription, volumeDescriptionSchema } from '../model/copy-description.js';
import type { CopyRecord } from '../model/copy-record.js';
import { asId, type ReplicaId } from '../model/ids.js';
import type { Orphan, OrphanInContext } from '../model/orphan.js';
import type { RecoveryView } from '../model/recovery.js';
import type { Volume } from '../model/volume.js';
import { effectiveSettings } from '../settings/effective.js';
import { planRecovery } from './plan-recovery.js';
import { recoveryChanges } from './recovered-volume.js';

const VOLUME = asId<Volume['id']>(testId(1));
const { clusterId, organizationId, projectId } = AN_OWNER;
const [A, B, C] = [11, 12, 13].map((number) => asId<ReplicaId>(testId(number))) as [
  ReplicaId,
  ReplicaId,
  ReplicaId,
];
const STORED = {
  name: 'pg-data',
  clusterId,
  organizationId,
  projectId,
  numberOfReplicas: 3,
  dataLocality: 'disabled' as const,
  nodeSelector: ['ssd'],
  diskSelector: [],
  topologyRequirement: [{ zone: 'zone-a' }],
};

type CopyPart = { record?: CopyRecord | undefined; description?: Partial<CopyDescription> | null } & Partial<
  Pick<Orphan, 'removal'>
>;

const OTHER = asId<typeof clusterId>(testId(99));

describe('planRecovery', () => {
  test.each<{ name: string; view: RecoveryView; want: string | undefined }>([
    { name: 'all members are there', view: aView(all()), want: undefined },
    { name: 'a member is missing', view: aView([aCopy(A), aCopy(B)]), want: 'MissingCopies' },
    {
      name: 'a member is missing and the user goes on',
      view: aView([aCopy(A), aCopy(B)], { choice: { acceptsMissing: true } }),
      want: undefined,
    },
    {
      name: 'a user deleted it while a node was away',
      view: aView(all().map((copy) => ({ ...copy, deletedAt: NOON }))),
      want: 'Deleted',
    },
    {
      name: 'a user deleted it and wants it back',
      view: aView(
        all().map((copy) => ({ ...copy, deletedAt: NOON })),
        { choice: { acceptsDeleted: true } },
      ),
      want: undefined,
    },
    {
      name: 'an agent has not said',
      view: aView([aCopy(A), aCopy(B), aCopy(C, { description: null })]),
      want: 'NotDescribed',
    },
    {
      name: 'a member is being removed',
      view: aView([
        aCopy(A),
        aCopy(B),
        aCopy(C, { removal: { by: 'person', requestedAt: NOON, claimedAt: undefined, trouble: undefined } }),
      ]),
      want: 'MissingCopies',
    },
    { name: 'none was ever full', view: aView([aCopy(A, { record: undefined })]), want: 'NoCurrentCopy' },
    {
      name: 'they are of another cluster',
      view: aView([
        aCopy(A, { record: record(5, 1, [A]), description: { volume: { ...STORED, clusterId: OTHER } } }),
      ]),
      want: 'OtherCluster',
    },
    {
      name: 'they are of another cluster, which is lost',
      view: aView(
        [aCopy(A, { record: record(5, 1, [A]), description: { volume: { ...STORED, clusterId: OTHER } } })],
        { choice: { fromClusterId: OTHER } },
      ),
      want: undefined,
    },
    {
      name: 'they are of another organization here',
      view: aView([
        aCopy(A, {
          record: record(5, 1, [A]),
          description: { volume: { ...STORED, organizationId: asId(testId(98)) } },
        }),
      ]),
      want: 'OtherOrganization',
    },
    {
      name: 'one number has two lists of members',
      view: aView([aCopy(A, { record: record(5, 1, [A]) }), aCopy(B, { record: record(5, 1, [B]) })]),
      want: 'Forked',
    },
    {
      name: 'one epoch was granted twice',
      view: aView([
        aCopy(A, { record: record(5, 1, [A]) }),
        aCopy(B, { record: record(5, 2, [B]), description: { grantId: testId(51) } }),
      ]),
      want: 'Forked',
    },
    {
      name: 'there are several projects, and not the one that it was in',
      view: aView(all(), {
        place: {
          clusterId,
          organizationId,
          projects: [
            { id: asId(testId(71)), name: 'x' },
            { id: asId(testId(72)), name: 'y' },
          ],
        },
      }),
      want: 'NoProject',
    },
    {
      name: 'the volume is there and well',
      view: aView([aCopy(C)], { known: restored({ restoredAt: undefined }) }),
      want: 'NotNeeded',
    },
    {
      name: 'a restored volume misses a member',
      view: aView([aCopy(C)], { known: restored() }),
      want: undefined,
    },
    {
      name: 'a restored volume has had a newer record without it',
      view: aView([aCopy(C, { record: record(3, 0, [C]) })], { known: restored() }),
      want: 'NotNeeded',
    },
  ])('where $name', ({ view, want }) => {
    const { obstacle } = planRecovery(view);
    expect(obstacle?.code).toBe(want);
    if (obstacle !== undefined && obstacle.code !== 'NotNeeded') expect(obstacle.cures).not.toEqual([]);
  });

  test('the newest record says which copies are current, whatever older ones say', () => {
    const view = aView([aCopy(A, { record: record(6, 0, [A, B]) }), aCopy(B), aCopy(C)]);
    expect(planRecovery(view).copies.map(({ verdict }) => verdict)).toEqual(['current', 'current', 'stale']);
  });

  test('the target of a rebuild that has not ended is not a copy to begin with', () => {
    const view = aView([aCopy(A), aCopy(B), aCopy(C, { description: { isRebuildTarget: true } })]);
    expect(planRecovery(view).copies.map(({ verdict }) => verdict)).toEqual([
      'current',
      'current',
      'unfinished',
    ]);
  });

  test('copies of a volume that was never attached belong together though each names itself only', () => {
    const view = aView(
      [A, B].map((id) => aCopy(id, { record: record(0, 0, [id]), description: { epoch: 0 } })),
    );
    expect(planRecovery(view)).toMatchObject({ obstacle: undefined, record: record(0, 0, [A, B]) });
  });

  // One size means the size of A_SPEC, which a restored volume has.
  test.each<{ name: string; sizes: number[]; known?: RecoveryView['known']; want: number }>([
    { name: 'that all copies have', sizes: [2, 2, 2], want: 2 },
    { name: 'that all have where an expansion was cut short', sizes: [1, 2, 2], want: 1 },
    { name: 'that they have grown to since the backup', sizes: [2], known: restored(), want: 2 },
    {
      name: 'that is known where they were not opened since it grew',
      sizes: [0.5],
      known: restored(),
      want: 1,
    },
  ])('a volume has the size $name', ({ sizes, known, want }) => {
    const copies = [A, B, C]
      .slice(-sizes.length)
      .map((id, index) => aCopy(id, { description: { sizeBytes: (sizes[index] ?? 0) * A_SPEC.sizeBytes } }));
    const { sizeBytes, obstacle } = planRecovery(aView(copies, { known }));
    expect([sizeBytes, obstacle]).toEqual([want * A_SPEC.sizeBytes, undefined]);
  });

  test('a volume without a stored name is called by its id', () => {
    const view = aView(all().map(({ orphan }) => aCopy(orphan.replicaId, { description: { volume: null } })));
    expect(planRecovery(view)).toMatchObject({ name: `recovered-${VOLUME}`, numberOfReplicas: 3, projectId });
  });
});

describe('recoveryChanges', () => {
  test('make the volume with its ids, above every epoch, marked as restored, and book each copy', () => {
    const view = aView([aCopy(A), aCopy(B, { description: { epoch: 9 } }), aCopy(C)]);
    const changes = recoveryChanges(view, planRecovery(view), NOON);
    expect(changes.map(({ kind }) => kind)).toEqual([
      'volume.create',
      'replica.create',
      'replica.create',
      'replica.create',
      'event',
    ]);
    expect(changes[0]).toMatchObject({
      volume: { id: VOLUME, name: 'pg-data', epoch: 10, restoredAt: NOON, lifecycle: { state: 'detached' } },
    });
    expect(changes[0]).toMatchObject({
      volume: { spec: { nodeSelector: ['ssd'], topologyRequirement: [{ zone: 'zone-a' }] } },
    });
    expect(changes[1]).toMatchObject({
      replica: { id: A, secret: `key of ${A}`, provisioned: true, healthyAt: NOON },
      booking: { sizeBytes: A_SPEC.sizeBytes, ifSettingsVersion: 7 },
    });
  });

  test('make it with its labels, schedules and answers to settings, as its copies were told last', () => {
    const stored = {
      ...STORED,
      labels: { team: 'search', app: 'db' },
      overrides: { snapshotMaxCount: 50 },
      schedules: [{ name: 'nightly', cron: '0 3 * * *', retain: 7 }],
    };
    const volume = volumeDescriptionSchema.parse(stored);
    const view = aView([A, B, C].map((replicaId) => aCopy(replicaId, { description: { volume } })));
    const [made] = recoveryChanges(view, planRecovery(view), NOON);
    expect(made).toMatchObject({
      volume: {
        labels: { app: 'db', team: 'search' },
        spec: { snapshotMaxCount: 50, replicaAutoBalance: 'ignored' },
        recurringSnapshots: [{ name: 'nightly', cron: '0 3 * * *', retain: 7, lastRun: undefined }],
      },
    });
    const { recurringSnapshots } = (made as Extract<typeof made, { kind: 'volume.create' }>).volume;
    expect(recurringSnapshots[0]?.nextRunAt.getTime()).toBeGreaterThan(NOON.getTime());
  });

  test('give a restored volume only what it misses, and leave its record and epoch to the next attach', () => {
    const view = aView([aCopy(C)], { known: restored() });
    const changes = recoveryChanges(view, planRecovery(view), NOON);
    expect(changes.map(({ kind }) => kind)).toEqual(['replica.create', 'event']);
  });
});

/** A copy that was opened at epoch 5, whose record names all three. */
function aCopy(replicaId: ReplicaId, part: CopyPart = {}): OrphanInContext {
  const diskId = asId<Orphan['diskId']>(`disk-of-${replicaId}`);
  const description: CopyDescription = {
    volumeId: VOLUME,
    diskId,
    sizeBytes: A_SPEC.sizeBytes,
    epoch: 5,
    grantId: testId(50),
    isRebuildTarget: false,
    secret: `key of ${replicaId}`,
    volume: STORED,
    ...part.description,
  };
  const orphan: Orphan = {
    id: asId(`orphan-${replicaId}`),
    clusterId,
    nodeId: asId(`node-of-${replicaId}`),
    diskId,
    replicaId,
    volumeId: VOLUME,
    writtenBytes: 4096,
    record: 'record' in part ? part.record : record(5, 1, [A, B, C]),
    description: part.description === null ? undefined : description,
    firstSeenAt: NOON,
    announcedAt: NOON,
    removal: part.removal,
    version: 1,
  };
  return { orphan, nodeName: 'node-1', diskName: 'disk-1', isReachable: true, volume: undefined };
}

function record(epoch: number, dataGeneration: number, members: ReplicaId[]): CopyRecord {
  return { epoch, dataGeneration, members };
}

function aView(copies: OrphanInContext[], part: Partial<RecoveryView> = {}): RecoveryView {
  return {
    volumeId: VOLUME,
    copies,
    known: undefined,
    fleet: { clusterId, settings: effectiveSettings({}), settingsVersion: 7, nodes: [], disks: [] },
    place: { clusterId, organizationId, projects: [{ id: projectId, name: 'default' }] },
    choice: {},
    ...part,
  };
}

function all(): OrphanInContext[] {
  return [aCopy(A), aCopy(B), aCopy(C)];
}

function restored(part: Partial<Volume> = {}) {
  return {
    volume: aVolume(AN_OWNER, { id: VOLUME, restoredAt: NOON, record: record(4, 0, [A, B]), ...part }),
    replicas: [A, B].map((id) => aReplica({ id, volumeId: VOLUME })),
  };
}
