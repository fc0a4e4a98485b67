import { describe, expect, test } from '@jest/globals';
import { MIB } from '../model/bytes.js';
import { asId, type SnapshotId } from '../model/ids.js';
import type { VolumeChain } from '../model/layer-task.js';
import { deletionNotes, growthNotes, type Layers, revertNotes } from './layer-notes.js';

const ids = {
  monday: asId<SnapshotId>('01a1fd5b-0000-7000-8000-000000000001'),
  tuesday: asId<SnapshotId>('01a1fd5b-0000-7000-8000-000000000002'),
  branch: asId<SnapshotId>('01a1fd5b-0000-7000-8000-000000000003'),
};
type Name = keyof typeof ids;

/** Snapshots by what each stands on, and the one that the head stands on. */
function layers(parents: Partial<Record<Name, Name | undefined>>, headParent: Name | undefined): Layers {
  const chain: VolumeChain = {
    key: '1.1',
    headParentId: headParent === undefined ? undefined : ids[headParent],
    headBytes: 3 * MIB,
    busy: '',
    keptIds: [],
    readAt: new Date(0),
  };
  const names = (['monday', 'tuesday', 'branch'] as const).filter((name) => Object.hasOwn(parents, name));
  return {
    volume: { chain, spec: { sizeBytes: 64 * MIB } },
    snapshots: names.map((name) => {
      const parent = parents[name];
      const parentId = parent === undefined ? undefined : ids[parent];
      return { id: ids[name], name, parentId, sizeBytes: 8 * MIB, state: 'ready' as const };
    }),
  };
}

describe('the plan of a deletion says what becomes of the data', () => {
  test.each<{ name: string; of: Layers; want: string }>([
    {
      name: 'merged with the one layer above it',
      of: layers({ monday: undefined, tuesday: 'monday' }, 'tuesday'),
      want: 'its 8 MiB are merged with snapshot tuesday, which goes on reading as it does; what both have written is freed',
    },
    {
      name: 'kept while the head stands on it',
      of: layers({ monday: undefined }, 'monday'),
      want: 'its 8 MiB stay on each copy until writes cover them or a later snapshot is taken',
    },
    {
      name: 'removed at the end of a branch',
      of: layers({ monday: undefined }, undefined),
      want: 'its 8 MiB are removed from each copy: nothing stands on them',
    },
    {
      name: 'kept under two layers',
      of: layers({ monday: undefined, tuesday: 'monday', branch: 'monday' }, 'tuesday'),
      want: 'its 8 MiB stay on each copy: more than one later layer stands on them',
    },
    {
      name: 'kept under a branch and the head',
      of: layers({ monday: undefined, branch: 'monday' }, 'monday'),
      want: 'its 8 MiB stay on each copy: more than one later layer stands on them',
    },
  ])('$name', ({ of, want }) => {
    const last = 'the volume can not be reverted to it any more, and that can not be undone';
    expect(deletionNotes(of, ids.monday)).toEqual([want, last]);
  });

  test('nothing of one that no copy has', () => {
    const { volume, snapshots } = layers({ monday: undefined }, undefined);
    const failed = snapshots.map((snapshot) => ({ ...snapshot, state: 'failed' as const }));
    expect(deletionNotes({ volume, snapshots: failed }, ids.monday)).toEqual([]);
  });
});

describe('the plan of a revert says what is lost', () => {
  const lost = '3 MiB that were written since the last snapshot are lost, on all copies';

  test('to the last snapshot, and nothing else', () => {
    expect(revertNotes(layers({ monday: undefined }, 'monday'), ids.monday)).toEqual([lost]);
  });

  test('to an earlier one, and what stays', () => {
    const of = layers({ monday: undefined, tuesday: 'monday' }, 'tuesday');
    expect(revertNotes(of, ids.monday)).toEqual([
      lost,
      'later snapshots stay as a branch that the volume can be reverted to',
    ]);
  });

  test('without a number while its engine has not told one', () => {
    const { snapshots } = layers({ monday: undefined }, 'monday');
    expect(
      revertNotes({ volume: { chain: undefined, spec: { sizeBytes: 1 } }, snapshots }, ids.monday),
    ).toEqual(['what was written since the last snapshot is lost, on all copies']);
  });
});

test('the plan of a growth says both sizes, and that there is no way back', () => {
  expect(growthNotes(layers({}, undefined), 128 * MIB)).toEqual([
    'it has 64 MiB and gets 128 MiB',
    'a volume can not be made smaller again; clients see the new size when they connect again',
  ]);
});
