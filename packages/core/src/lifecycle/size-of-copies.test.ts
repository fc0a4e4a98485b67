import { NOON } from '@holdfast/testkit/builders.js';
import { aTask } from '@holdfast/testkit/task-builder.js';
import { aGrantedView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { VolumePatch } from '../model/changes.js';
import type { VolumeLayers } from '../model/engine-commands.js';
import { layerObservation } from './layer-observation.js';

const GIB = 2 ** 30;
const EXPANSION = aTask({ kind: 'expand', sizeBytes: 2 * GIB, fromBytes: GIB });

function served(sizeBytes: number): VolumeLayers {
  return { sizeBytes, busy: '', lastError: '', headParentId: null, headBytes: 0, layers: [] };
}

function viewOf(task?: typeof EXPANSION) {
  const view = aGrantedView({ volume: { task } });
  const spec = { ...view.volume.spec, sizeBytes: GIB };
  const replicas = view.replicas.map((replica) => ({ ...replica, sizeBytes: GIB }));
  return { ...view, volume: { ...view.volume, spec }, replicas };
}

const sizeIn = (changes: ReturnType<typeof layerObservation>) =>
  changes.flatMap((change) => {
    const patch: VolumePatch = change.kind === 'volume.patch' ? change.patch : {};
    return patch.spec?.sizeBytes ?? [];
  });

describe('a volume that the engine serves', () => {
  test.each<{ name: string; sizeBytes: number; task?: typeof EXPANSION; finished?: boolean; want: number[] }>(
    [
      { name: 'at the size that is known stays as it is', sizeBytes: GIB, want: [] },
      { name: 'at a larger size than is known has that', sizeBytes: 3 * GIB, want: [3 * GIB] },
      { name: 'at a smaller size is still to grow', sizeBytes: GIB / 2, want: [] },
      { name: 'while it is to be expanded waits for that', sizeBytes: 2 * GIB, task: EXPANSION, want: [] },
      {
        name: 'at the size that it has just been expanded to has it once',
        sizeBytes: 2 * GIB,
        task: EXPANSION,
        finished: true,
        want: [2 * GIB],
      },
    ],
  )('$name', ({ sizeBytes, task, finished = false, want }) => {
    const changes = layerObservation(viewOf(task), served(sizeBytes), NOON, finished ? task : undefined);
    expect(sizeIn(changes)).toEqual(want);
  });

  test('at a larger size has its copies booked for it, whether they fit or not, and an event that says why', () => {
    const view = viewOf();
    const changes = layerObservation(view, served(3 * GIB), NOON);
    expect(changes.filter(({ kind }) => kind === 'replica.resize')).toEqual(
      view.replicas.map(({ id, diskId }) => ({
        kind: 'replica.resize',
        replicaId: id,
        sizeBytes: 3 * GIB,
        booking: expect.objectContaining({
          diskId,
          sizeBytes: 2 * GIB,
          limitBytes: Number.MAX_SAFE_INTEGER,
        }),
      })),
    );
    expect(changes).toContainEqual({
      kind: 'event',
      event: expect.objectContaining({
        type: 'VolumeExpanded',
        message: expect.stringContaining('has 3 GiB, as its copies say'),
      }),
    });
  });
});
