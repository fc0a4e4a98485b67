import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { describe, expect, test } from '@jest/globals';
import { GIB } from '../model/bytes.js';
import { asId, type DiskId, type NodeId } from '../model/ids.js';
import { DETACHED, type VolumeLifecycle } from '../model/volume-lifecycle.js';
import { diskRemovalNotes, maintenanceNotes, nodeDeletionNotes } from './absence-notes.js';

type Volumes = Parameters<typeof maintenanceNotes>[0];

const HERE = asId<NodeId>('node-1');
const ELSEWHERE = asId<NodeId>('node-2');
const SINCE = new Date(0);

type Copy = { on: NodeId; is?: 'healthy' | 'failed' | 'removed' };

function volume(
  name: string,
  copies: readonly Copy[],
  lifecycle: VolumeLifecycle = DETACHED,
): Volumes[number] {
  return {
    volume: { name, lifecycle },
    replicas: copies.map(({ on, is = 'healthy' }) => ({
      nodeId: on,
      intent: is === 'removed' ? 'remove' : 'keep',
      healthyAt: SINCE,
      failedAt: is === 'failed' ? SINCE : undefined,
    })),
  };
}

describe('the plan of a maintenance window', () => {
  test.each<{ name: string; volumes: Volumes; want: string[] }>([
    { name: 'of an empty node', volumes: [], want: ['no copy is on it, and it serves no volume'] },
    {
      name: 'counts volumes with a copy there',
      volumes: [volume('a', [{ on: HERE }, { on: ELSEWHERE }])],
      want: [
        'while it is away one volume has a copy less, and no other is built until it is back or the window has ended',
      ],
    },
    {
      name: 'leaves out a copy that goes anyway',
      volumes: [volume('a', [{ on: HERE, is: 'removed' }, { on: ELSEWHERE }])],
      want: ['no copy is on it, and it serves no volume'],
    },
    {
      name: 'names volumes whose other copies are not healthy',
      volumes: [
        volume('b', [{ on: HERE }]),
        volume('a', [{ on: HERE }, { on: ELSEWHERE, is: 'failed' }]),
        volume('whole', [{ on: HERE }, { on: ELSEWHERE }]),
      ],
      want: [
        'while it is away 3 volumes have a copy less, and no other is built until it is back or the window has ended',
        '2 volumes have no healthy copy elsewhere and can not be read meanwhile: a, b',
      ],
    },
    {
      name: 'names what it serves',
      volumes: [volume('db', [{ on: ELSEWHERE }], attachedOn(HERE))],
      want: ['one volume is served by it: clients lose the connection when it is switched off: db'],
    },
    {
      name: 'names five at most',
      volumes: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => volume(name, [{ on: HERE }])),
      want: [
        'while it is away 7 volumes have a copy less, and no other is built until it is back or the window has ended',
        '7 volumes have no healthy copy elsewhere and can not be read meanwhile: a, b, c, d, e and 2 more',
      ],
    },
  ])('$name', ({ volumes, want }) => {
    expect(maintenanceNotes(volumes, HERE)).toEqual(want);
  });
});

describe('the plan of a removal says what room goes, and that data stays', () => {
  const disk = (id: string, nodeId: NodeId) => ({
    id: asId<DiskId>(id),
    nodeId,
    path: `/mnt/${id}`,
    storageMaximumBytes: 2 * GIB,
  });
  const disks = [disk('one', HERE), disk('two', HERE), disk('other', ELSEWHERE)];

  test('of a disk', () => {
    expect(diskRemovalNotes(disks, asId<DiskId>('one'))).toEqual([
      'the cluster has 2 GiB less room for copies',
      'what is stored at /mnt/one stays there',
    ]);
  });

  test('of a node with all of its disks', () => {
    expect(nodeDeletionNotes(disks, HERE)).toEqual([
      'its 2 disks are forgotten with it: the cluster has 4 GiB less room for copies',
      'what is stored on the machine stays there',
    ]);
    expect(nodeDeletionNotes([], HERE)).toEqual(['it has no disk']);
  });
});
