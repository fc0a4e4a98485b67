import { asId, type NodeId } from '@holdfast/core/model/ids.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { AN_OWNER, aVolume, NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn, ON_ANY_NODE } from '@holdfast/testkit/lifecycle-builder.js';
import { anEngineOn, aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { VolumeView } from '../model/views.js';
import { attachObstacle, planAttachment } from './plan-attachment.js';
import { planStatus } from './plan-status.js';

const NODE = asId<NodeId>('n1');

/** A volume that was attached at noon and whose engine is in no report. */
function view(part: Partial<VolumeView> = {}, volume: Partial<Volume> = {}): VolumeView {
  const fleet = aFleet({ n1: { zone: 'a' } });
  const bootId = fleet.nodes[0]?.bootId;
  return aVolumeView({
    volume: aVolume(AN_OWNER, {
      lifecycle: attachedOn(NODE, { bootId }),
      epoch: 1,
      ...volume,
    }),
    replicas: [aReplicaOn('n1-disk', { mode: 'RW', lastHealthyAt: NOON })],
    fleet,
    ...part,
  });
}

const missingSince = (seconds: number) => ({
  attention: { code: 'EngineMissing', message: 'not reported', cures: [], since: secondsAfterNoon(seconds) },
});
const engine = anEngineOn(NODE);

describe('an engine that is in no report', () => {
  test.each([
    { name: 'is not missed right after its start', seconds: 4, shown: false },
    { name: 'is shown as missing after a while', seconds: 5, shown: true },
  ])('$name', ({ seconds, shown }) => {
    const step = planStatus(view(), secondsAfterNoon(seconds));
    const text = JSON.stringify(step ?? {});
    expect(text.includes('EngineMissing')).toBe(shown);
    expect(planAttachment(view(), secondsAfterNoon(seconds))).toBeUndefined();
  });

  test.each([
    { name: 'missing for a moment', found: view({}, missingSince(20)), want: undefined },
    { name: 'missing for too long', found: view({}, missingSince(15)), want: 'grant-attachment' },
    { name: 'reported again', found: view({ engine }, missingSince(15)), want: undefined },
  ])('$name: $want', ({ found, want }) => {
    const step = planAttachment(found, secondsAfterNoon(25));
    expect(step?.kind).toBe(want);
    if (step !== undefined) expect(step).toMatchObject({ nodeId: NODE });
  });
});

test('a strictly local volume is not granted to a node that its copy has left meanwhile, and says so', () => {
  const request = { ...ON_ANY_NODE, nodeId: asId<NodeId>('n2') };
  const volume = aVolume(AN_OWNER, { lifecycle: { state: 'attaching', request, grant: undefined } });
  const spec = { ...volume.spec, numberOfReplicas: 1, dataLocality: 'strict-local' as const };
  const seen = aVolumeView({
    volume: { ...volume, spec },
    replicas: [aReplicaOn('n1-disk'), aReplicaOn('n2-disk', { healthyAt: undefined })],
    fleet: aFleet({ n1: {}, n2: {} }),
  });
  expect(planAttachment(seen, NOON)).toBeUndefined();
  expect(attachObstacle(seen)?.message).toContain('its copy is on n1, not on n2');
  expect(planAttachment({ ...seen, volume }, NOON)).toMatchObject({
    kind: 'grant-attachment',
    nodeId: 'n2',
  });
});

test('without a wish where, a volume is not granted to the node of a copy that is to be removed', () => {
  const lifecycle = { state: 'attaching', request: ON_ANY_NODE, grant: undefined } as const;
  const seen = aVolumeView({
    volume: aVolume(AN_OWNER, { lifecycle }),
    replicas: [aReplicaOn('n1-disk', { intent: 'remove' }), aReplicaOn('n2-disk')],
    fleet: aFleet({ n1: {}, n2: {} }),
  });
  expect(planAttachment(seen, NOON)).toMatchObject({ nodeId: 'n2' });
  expect(planAttachment({ ...seen, replicas: seen.replicas.slice(0, 1) }, NOON)).toMatchObject({
    nodeId: 'n1',
  });
});

test('without a wish where, a cordoned node comes after those that are not, and still serves what only it holds', () => {
  const lifecycle = { state: 'attaching', request: ON_ANY_NODE, grant: undefined } as const;
  const seen = aVolumeView({
    volume: aVolume(AN_OWNER, { lifecycle }),
    replicas: [aReplicaOn('n1-disk'), aReplicaOn('n2-disk')],
    fleet: aFleet({ n1: { cordoned: true }, n2: {} }),
  });
  expect(planAttachment(seen, NOON)).toMatchObject({ nodeId: 'n2' });
  expect(planAttachment({ ...seen, replicas: seen.replicas.slice(0, 1) }, NOON)).toMatchObject({
    nodeId: 'n1',
  });
});
