import { copyRecord } from '@holdfast/core/model/copy-record.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { aFill } from '@holdfast/testkit/task-builder.js';
import { aGrantedView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import { fillOf } from '../model/volume-task.js';
import { fillBegun, fillRefused } from './conclude-fill.js';
import { provisioningFailed, replicaDropped, replicaProvisioned } from './conclude-replica.js';

const [A, B] = ['a', 'b'].map((name) => asId<ReplicaId>(name)) as [ReplicaId, ReplicaId];

describe('a replica', () => {
  test('that is one of the first copies joins the record that decides at the first attach', () => {
    const view = aGrantedView({ volume: { record: copyRecord(0, 1, [A]) } });
    expect(replicaProvisioned(view, B, true, NOON)).toMatchObject([
      { replicaId: B, patch: { provisioned: true, healthyAt: NOON } },
      { patch: { record: copyRecord(0, 2, [A, B]) } },
    ]);
  });

  test('that a rebuild will fill has a directory, and is not healthy yet', () => {
    const changes = replicaProvisioned(aGrantedView(), B, false, NOON);
    expect(changes).toEqual([
      { kind: 'replica.patch', replicaId: B, patch: { provisioned: true, failure: undefined } },
    ]);
  });

  test('whose directory could not be made keeps the reason; a dropped one has failed', () => {
    expect(provisioningFailed(B, 'no space', NOON)).toMatchObject([
      { patch: { failure: { reason: 'ProvisioningFailed', message: 'no space' }, lastFailedAt: NOON } },
    ]);
    expect(replicaDropped(B, 'it is surplus', NOON)).toMatchObject([
      { patch: { mode: 'ERR', failedAt: NOON, failure: { reason: 'Dropped', message: 'it is surplus' } } },
    ]);
  });
});

describe('a filling', () => {
  const fill = aFill({ admittedAt: NOON });
  const view = aGrantedView({ volume: { task: fill } });

  test('that has begun is remembered with the attachment that was asked', () => {
    expect(fillBegun(view, fill)).toMatchObject([{ patch: { task: { startedEpoch: 1 } } }]);
  });

  test.each([
    { code: 'snapshot.not_found', keepsAdmission: false },
    { code: 'agent.unreachable', keepsAdmission: true },
  ] as const)('that was refused with $code says why; keeps its admission: $keepsAdmission', (row) => {
    const [change] = fillRefused(view, fill, { code: row.code, message: 'not now' }, NOON);
    expect(change).toMatchObject({ patch: { task: { trouble: { message: 'not now', at: NOON } } } });
    const patch = change?.kind === 'volume.patch' ? change.patch : {};
    expect(fillOf({ task: patch.task })?.admittedAt !== undefined).toBe(row.keepsAdmission);
  });
});
