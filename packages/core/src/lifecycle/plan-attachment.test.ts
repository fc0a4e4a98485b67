import { asId, type NodeId } from '@holdfast/core/model/ids.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { AN_OWNER, aVolume, NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { anEngineOn, aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { VolumeView } from '../model/views.js';
import { planAttachment } from './plan-attachment.js';
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
