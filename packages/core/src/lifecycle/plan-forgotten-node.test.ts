import { A_SPEC, AN_OWNER, anIdleVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn, TO_REPAIR } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { copyRecord } from '../model/copy-record.js';
import { asId, type ReplicaId } from '../model/ids.js';
import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { planForgottenNode } from './plan-forgotten-node.js';

const { id: VOLUME_ID } = anIdleVolume(AN_OWNER, {});
const GONE: NodePart = { ready: false, forget: { requestedAt: NOON, acceptedLosses: [] } };
const ACCEPTED: NodePart = { ready: false, forget: { requestedAt: NOON, acceptedLosses: [VOLUME_ID] } };
const NODES: Record<string, NodePart> = { n1: {}, n2: {}, n3: GONE, n4: {} };
const WITHOUT_PLACE: Record<string, NodePart> = { n1: {}, n2: {}, n3: GONE };
const LATER = new Date(NOON.getTime() + 1000);
const full = (node: string, part: Partial<Replica> = {}) =>
  aReplicaOn(`${node}-disk`, { id: asId<ReplicaId>(node), mode: undefined, provisioned: true, ...part });

/** A volume with copies on n1, n2 and n3, which is being forgotten; n4 has a place. */
function view(part: Partial<VolumeView> = {}, volume: Partial<Volume> = {}): VolumeView {
  const record = copyRecord(
    1,
    1,
    ['n1', 'n2', 'n3'].map((name) => asId<ReplicaId>(name)),
  );
  return aVolumeView({
    volume: anIdleVolume(AN_OWNER, { epoch: 1, spec: A_SPEC, record, ...volume }),
    replicas: [full('n1'), full('n2'), full('n3')],
    fleet: aFleet(NODES),
    ...part,
  });
}

function patchOf(seen: VolumeView): unknown {
  const step = planForgottenNode(seen, LATER);
  if (step?.kind !== 'commit') return undefined;
  return step.changes.find(({ kind }) => kind === 'replica.patch' || kind === 'volume.patch');
}

const FAILED = { failedAt: LATER, failure: { reason: 'NodeForgotten' } };
const stalled = (at: Date) => ({
  conditions: [
    {
      type: 'OfflineRebuilding' as const,
      status: 'False' as const,
      reason: 'Stalled',
      message: '',
      lastTransitionAt: at,
    },
  ],
});

test.each<{ name: string; seen: VolumeView; want: object | undefined }>([
  { name: 'a detached volume fails, and is kept until it is replaced', seen: view(), want: { ...FAILED } },
  {
    name: 'a detached volume is dropped where none can replace it',
    seen: view({ fleet: aFleet(WITHOUT_PLACE) }),
    want: { ...FAILED, intent: 'remove' },
  },
  {
    name: 'a detached volume is dropped after an attempt that came to nothing',
    seen: view({}, stalled(LATER)),
    want: { ...FAILED, intent: 'remove' },
  },
  {
    name: 'a detached volume waits for a rest that began before the request',
    seen: view({}, stalled(new Date(NOON.getTime() - 1000))),
    want: { ...FAILED },
  },
  {
    name: 'a volume attached elsewhere is dropped',
    seen: view({}, { lifecycle: attachedOn('n1') }),
    want: { ...FAILED, intent: 'remove' },
  },
  {
    name: 'a volume whose engine still reaches it is left to that engine',
    seen: view(
      { replicas: [full('n1', { mode: 'RW' }), full('n3', { mode: 'RW' })] },
      {
        lifecycle: attachedOn('n1'),
        record: copyRecord(
          1,
          1,
          ['n1', 'n3'].map((name) => asId<ReplicaId>(name)),
        ),
      },
    ),
    want: { intent: 'remove' },
  },
  {
    name: 'a volume that has no other copy stays as it is',
    seen: view({ replicas: [full('n3')] }),
    want: undefined,
  },
  {
    name: 'a volume whose loss is accepted is dropped',
    seen: view({ replicas: [full('n3')], fleet: aFleet({ ...NODES, n3: ACCEPTED }) }),
    want: { ...FAILED, intent: 'remove' },
  },
])('a copy of $name', ({ seen, want }) => {
  const found = patchOf(seen);
  if (want === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject({ kind: 'replica.patch', replicaId: 'n3', patch: want });
  if (want !== undefined && !('intent' in want)) expect(found).not.toHaveProperty('patch.intent');
});

test('a copy that has failed and waits for its replacement is not planned again', () => {
  const failed = full('n3', { failedAt: NOON, lastHealthyAt: NOON });
  expect(planForgottenNode(view({ replicas: [full('n1'), full('n2'), failed] }), LATER)).toBeUndefined();
});

test('a volume that the node serves is given up by force, and goes on on any other node', () => {
  expect(patchOf(view({}, { lifecycle: attachedOn('n3') }))).toMatchObject({
    patch: { lifecycle: { state: 'detaching', isForced: true, request: { nodeId: undefined } } },
  });
});

test("the worker's own attachment on the node is given up, and not asked for again", () => {
  const lifecycle = { ...attachedOn('n3'), request: TO_REPAIR };
  expect(patchOf(view({}, { lifecycle }))).toMatchObject({
    patch: { lifecycle: { state: 'detaching', isForced: true, request: undefined } },
  });
});

test('nothing is planned for a volume without a forgotten node', () => {
  expect(
    planForgottenNode(view({ fleet: aFleet({ ...NODES, n3: { ready: false } }) }), LATER),
  ).toBeUndefined();
});
