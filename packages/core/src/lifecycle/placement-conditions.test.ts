import { AN_OWNER, aReplica, aVolume, NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aFleet } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { Change } from '../model/changes.js';
import { conditionOf } from '../model/condition.js';
import { asId, type ReplicaId } from '../model/ids.js';
import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { placementConditions } from './placement-conditions.js';

const FULL = aFleet({ a: { disks: { 'a-disk': { bytes: 0 } } } });
const ROOMY = aFleet({ a: {} });
const VOLUME = aVolume(AN_OWNER);
const UNPLACED = aReplica({ volumeId: VOLUME.id });

function viewOf(part: {
  volume?: Volume;
  replicas?: readonly Replica[];
  fleet?: VolumeView['fleet'];
}): VolumeView {
  const { volume = VOLUME, replicas = [UNPLACED], fleet = FULL } = part;
  return aVolumeView({ volume, replicas, fleet });
}

/** The view after the plan was carried out. */
function after(view: VolumeView): VolumeView {
  const { patch, changes } = placementConditions(view, NOON);
  const patchOf = (id: ReplicaId) =>
    changes.find(
      (change): change is Extract<Change, { kind: 'replica.patch' }> =>
        change.kind === 'replica.patch' && change.replicaId === id,
    )?.patch ?? {};
  return {
    ...view,
    volume: { ...view.volume, ...patch, observedGeneration: view.volume.generation },
    replicas: view.replicas.map((replica) => ({ ...replica, ...patchOf(replica.id) })),
  };
}

describe('a replica without a place', () => {
  test('holds the explanation, whose sentence stands in the condition', () => {
    const { volume, replicas } = after(viewOf({}));
    expect(replicas[0]?.explanation).toMatchObject({
      outcome: 'unplaced',
      replicaId: UNPLACED.id,
      sentence: expect.stringContaining('No disk can take this replica'),
    });
    expect(volume.explanation).toBeUndefined();
    const condition = conditionOf(volume.conditions, 'Scheduled');
    expect(condition).toMatchObject({ status: 'False' });
    expect(condition?.message).toContain('insufficient storage');
    const { sentence = '' } = replicas[0]?.explanation ?? {};
    expect(sentence).toMatch(/^No disk can take/);
    expect(condition?.message).toContain(`have a place: ${sentence}\ninsufficient`);
  });

  test('is told of by an event at the first look, also where it never had one', () => {
    const told = ({ changes }: ReturnType<typeof placementConditions>) =>
      changes.flatMap((change) => (change.kind === 'event' ? [change.event.type] : []));
    const explained = after(viewOf({}));
    const { conditions } = explained.volume;
    const fromBirth = { ...explained, volume: { ...VOLUME, conditions } };
    expect(told(placementConditions(fromBirth, NOON))).toEqual(['VolumeUnscheduled']);
    expect(told(placementConditions(explained, NOON))).toEqual([]);
  });

  test('is explained once, until the answer changes', () => {
    const explained = after(viewOf({}));
    expect(placementConditions(explained, secondsAfterNoon(1))).toEqual({
      patch: {},
      changes: [],
    });
    const other = { ...explained, fleet: aFleet({ a: { cordoned: true } }) };
    expect(after(other).replicas[0]?.explanation?.sentence).toContain('cordoned');
  });

  test('from before there were explanations gets one', () => {
    const explained = after(viewOf({}));
    const old = {
      ...explained,
      replicas: explained.replicas.map((one) => ({ ...one, explanation: undefined })),
    };
    expect(after(old).replicas[0]?.explanation).toBeDefined();
  });

  test('has none any more once it has a place to go to', () => {
    const explained = after(viewOf({}));
    const cured = after({ ...explained, fleet: ROOMY });
    expect(cured.replicas[0]?.explanation).toBeUndefined();
    expect(conditionOf(cured.volume.conditions, 'Scheduled')?.message).not.toContain('No disk');
  });
});

test('a copy that is missing without a replica of its own is explained with the volume', () => {
  const attached = {
    lifecycle: attachedOn('a'),
    spec: { ...VOLUME.spec, numberOfReplicas: 2 },
  } as const;
  const volume = { ...VOLUME, ...attached };
  const healthy = { healthyAt: NOON, lastHealthyAt: NOON, mode: 'RW', provisioned: true } as const;
  const only = {
    ...UNPLACED,
    ...healthy,
    nodeId: asId<NonNullable<Replica['nodeId']>>('a'),
    diskId: asId<NonNullable<Replica['diskId']>>('a-disk'),
  };
  const explained = after(viewOf({ volume, replicas: [only], fleet: ROOMY }));
  expect(explained.volume.explanation).toMatchObject({ outcome: 'unplaced', replicaId: null });
  expect(explained.replicas[0]?.explanation).toBeUndefined();
  const cured = after({ ...explained, fleet: aFleet({ a: {}, b: {} }) });
  expect(cured.volume.explanation).toBeUndefined();
});

test('a copy on a node that does not answer keeps its place: what has none is its replacement', () => {
  const volume = {
    ...VOLUME,
    lifecycle: attachedOn('a'),
    spec: { ...VOLUME.spec, numberOfReplicas: 2 },
  } as const;
  const healthy = { healthyAt: NOON, lastHealthyAt: NOON, mode: 'RW', provisioned: true } as const;
  const replicas = ['a', 'b'].map((node) => ({
    ...UNPLACED,
    ...healthy,
    id: asId<ReplicaId>(node),
    nodeId: asId<NonNullable<Replica['nodeId']>>(node),
    diskId: asId<NonNullable<Replica['diskId']>>(`${node}-disk`),
    ...(node === 'b' ? { failedAt: NOON, healthyAt: undefined, mode: undefined } : {}),
  }));
  const settings = { 'replica-replenishment-wait-interval': 0 };
  const fleet = aFleet({ a: {}, b: { ready: false } }, settings);
  const { volume: told } = after(viewOf({ volume, replicas, fleet }));
  expect(conditionOf(told.conditions, 'Scheduled')?.message).toMatch(
    /^2 of 2 replicas have a place, but none is found for the replacement of one that is lost or to leave: No disk can take/,
  );
});
