/** Which copies a rebuild reads from, and on which nodes it counts. */
import { AN_OWNER, aRebuild, aRebuildReport, aVolume, testId } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { anEngineOn, aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import type { ReplicaId } from '../model/ids.js';
import type { Rebuild } from '../model/rebuild.js';
import { effectiveSettings } from '../settings/effective.js';
import { planSources, sourcesOf } from './rebuild-sources.js';

const [a, b, c] = ['a', 'b', 'c'].map((name) => aReplicaOn(`${name}-disk`, { mode: 'RW' }));
if (a === undefined || b === undefined || c === undefined) throw new Error('three replicas were made');

function view({ limit = 2, reads }: { limit?: number; reads?: readonly ReplicaId[] } = {}) {
  const report = aRebuildReport({
    rebuildId: testId(201),
    ...(reads && { sourceReplicaIds: [...reads] }),
  });
  return aVolumeView({
    volume: aVolume(AN_OWNER, { lifecycle: attachedOn('b'), epoch: 1 }),
    replicas: [a, b, c].flatMap((replica) => replica ?? []),
    fleet: {
      ...aFleet({ a: {}, b: {}, c: {} }),
      settings: effectiveSettings({ 'replica-rebuild-concurrent-sync-limit': limit }),
    },
    engine: anEngineOn('b', { rebuilds: [report] }),
  });
}

function recorded(rebuild: Partial<Rebuild>, of: Parameters<typeof view>[0] = {}) {
  const step = planSources(view(of), aRebuild(rebuild));
  const [change] = step?.kind === 'commit' ? step.changes : [];
  return change?.kind === 'rebuild.patch' ? change.patch.sourceNodeIds : undefined;
}

test("the copy on the engine's node is read first, one that is to go last", () => {
  const replicas = [{ ...a, intent: 'remove' as const }, b, c];
  expect(sourcesOf({ ...view(), replicas }).map(({ nodeId }) => nodeId)).toEqual(['b', 'c', 'a']);
});

test('what waits counts on those that it would read now', () => {
  expect(recorded({ sourceReplicaIds: [] })).toEqual(['a', 'b']);
  expect(recorded({ sourceReplicaIds: [b.id, a.id] })).toBeUndefined();
  expect(recorded({ sourceReplicaIds: [b.id, a.id] }, { limit: 1 })).toEqual(['b']);
});

test('what runs counts on those that its engine reads', () => {
  const running = { state: 'running', sourceReplicaIds: [b.id] } as const;
  expect(recorded(running, { reads: [c.id] })).toEqual(['c']);
  expect(recorded(running, { reads: [b.id] })).toBeUndefined();
  expect(recorded(running, { reads: [] })).toBeUndefined();
  expect(recorded(running)).toBeUndefined();
});
