import { GIB, TIB } from '@holdfast/core/model/bytes.js';
import { asId, type NodeId } from '@holdfast/core/model/ids.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { Replica } from '../../model/replica.js';
import type { SettingName } from '../../model/setting.js';
import type { VolumeSpec } from '../../model/volume.js';
import { DETACHED } from '../../model/volume-lifecycle.js';
import type { SettingValue } from '../../settings/effective.js';
import type { CureChange } from '../framework/cure-change.js';
import { decidePlacement } from '../placement/place-replica.js';
import { findCures } from './find-cures.js';
import { cycleOf, type PlacementQuestion, withChanges } from './placement-question.js';

const SPEC: VolumeSpec = { ...A_SPEC, sizeBytes: 10 * GIB };

type Case = {
  name: string;
  nodes: Record<string, NodePart>;
  spec?: Partial<VolumeSpec>;
  replicas?: Replica[];
  settings?: Partial<Record<SettingName, SettingValue>>;
  /** The kinds of all cures, smallest first. */
  want: string[];
};

function questionOf({
  nodes,
  spec = {},
  replicas = [],
  settings = {},
}: Omit<Case, 'name' | 'want'>): PlacementQuestion {
  const volume = { spec: { ...SPEC, ...spec }, writtenBytes: 0, lifecycle: DETACHED };
  return { volume, replicas, fleet: aFleet(nodes, settings), now: NOON };
}

function fits(question: PlacementQuestion, changes: readonly CureChange[] = []): boolean {
  return decidePlacement(cycleOf(withChanges(question, changes))).kind === 'placed';
}

/** A disk that is one byte short of room for the volume, by each formula. */
const BOOKED = { storageScheduledBytes: 90 * GIB + 1 };
const FULL = { storageAvailableBytes: 25 * GIB };

describe('findCures', () => {
  test.each<Case>([
    { name: 'no node', nodes: {}, want: ['add-node'] },
    {
      name: 'a silent node',
      nodes: { a: { ready: false } },
      want: ['start-agent', 'add-node'],
    },
    {
      name: 'a node that never had an agent',
      nodes: { a: { ready: false, controlUrl: undefined } },
      want: ['start-agent', 'add-node'],
    },
    {
      name: 'a cordoned node',
      nodes: { a: { cordoned: true } },
      want: ['uncordon-node', 'set-setting disable-scheduling-on-cordoned-node=false', 'add-node'],
    },
    {
      name: 'a node in maintenance',
      nodes: { a: { maintenance: { until: NOON, reason: '' } } },
      want: ['end-node-maintenance', 'add-node'],
    },
    {
      name: 'a node whose scheduling is off',
      nodes: { a: { allowScheduling: false } },
      want: ['enable-node-scheduling', 'add-node'],
    },
    {
      name: 'an evicting node',
      nodes: { a: { evictionRequested: true } },
      want: ['cancel-node-eviction', 'add-node'],
    },
    {
      name: 'a cordoned and evicting node, which takes both',
      nodes: { a: { cordoned: true, evictionRequested: true } },
      want: [
        'uncordon-node + cancel-node-eviction',
        'set-setting disable-scheduling-on-cordoned-node=false + cancel-node-eviction',
        'add-node',
      ],
    },
    {
      name: 'a disk that is not ready',
      nodes: { a: { disks: { d: { ready: false } } } },
      want: ['repair-disk', 'add-disk', 'add-node'],
    },
    {
      name: 'a disk whose scheduling is off',
      nodes: { a: { disks: { d: { allowScheduling: false } } } },
      want: ['enable-disk-scheduling', 'add-disk', 'add-node'],
    },
    {
      name: 'an evicting disk whose scheduling is off, as the console leaves it',
      nodes: { a: { disks: { d: { allowScheduling: false, evictionRequested: true } } } },
      want: ['enable-disk-scheduling + cancel-disk-eviction', 'add-disk', 'add-node'],
    },
    {
      name: 'a node without the tag',
      nodes: { a: { tags: ['hdd'] } },
      spec: { nodeSelector: ['ssd', 'hdd'] },
      want: ['tag-node ssd', 'remove-selector-tags ssd', 'add-node'],
    },
    {
      name: 'a disk without the tags',
      nodes: { a: {} },
      spec: { diskSelector: ['ssd', 'fast'] },
      want: ['tag-disk fast,ssd', 'remove-selector-tags fast,ssd', 'add-disk', 'add-node'],
    },
    {
      name: 'a disk that is kept for those that ask',
      nodes: { a: { disks: { d: { tags: ['ssd'] } } } },
      settings: { 'allow-empty-disk-selector-volume': false },
      want: [
        'add-selector-tags ssd',
        'set-setting allow-empty-disk-selector-volume=true',
        'add-disk',
        'add-node',
      ],
    },
    {
      name: 'a disk of the wrong type',
      nodes: { a: {} },
      spec: { dataEngine: 'v2' },
      want: ['add-disk', 'add-node'],
    },
    {
      name: 'a node that holds a replica',
      nodes: { a: {} },
      replicas: [aReplicaOn('a-disk')],
      want: [
        'set-override replicaSoftAntiAffinity',
        'set-setting replica-soft-anti-affinity=true',
        'add-node',
      ],
    },
    {
      name: 'a volume that forbids what the setting allows',
      nodes: { a: {} },
      replicas: [aReplicaOn('a-disk')],
      spec: { replicaSoftAntiAffinity: 'disabled' },
      settings: { 'replica-soft-anti-affinity': true },
      want: ['set-override replicaSoftAntiAffinity', 'add-node'],
    },
    {
      name: 'a zone that holds a replica: only another zone helps',
      nodes: { a: { zone: 'z' }, b: { zone: 'z' } },
      replicas: [aReplicaOn('a-disk')],
      settings: { 'replica-zone-soft-anti-affinity': false },
      want: [
        'set-override replicaZoneSoftAntiAffinity',
        'set-setting replica-zone-soft-anti-affinity=true',
        'add-node new-zone',
      ],
    },
    {
      name: 'a disk that holds a replica, on a node that may be shared',
      nodes: { a: {} },
      replicas: [aReplicaOn('a-disk')],
      spec: { replicaSoftAntiAffinity: 'enabled', replicaDiskSoftAntiAffinity: 'disabled' },
      want: ['set-override replicaDiskSoftAntiAffinity', 'add-disk', 'add-node'],
    },
    {
      name: 'a failed replica that holds its place',
      nodes: { a: {} },
      replicas: [aReplicaOn('a-disk', { failedAt: NOON })],
      want: [
        'wait-until 2026-01-01T12:10:00.000Z',
        'set-override replicaSoftAntiAffinity',
        'set-setting replica-soft-anti-affinity=true',
        'add-node',
      ],
    },
    {
      name: 'a disk that is booked too far',
      nodes: { a: { disks: { d: BOOKED } } },
      want: [
        'free-space 0/1',
        'set-setting storage-over-provisioning-percentage=101',
        'add-disk',
        'add-node',
      ],
    },
    {
      name: 'a reserve that takes the room',
      nodes: { a: { disks: { d: { storageReservedBytes: 90 * GIB + 1 } } } },
      want: ['lower-reserve', 'set-setting storage-over-provisioning-percentage=101', 'add-disk', 'add-node'],
    },
    {
      name: 'a disk that is too full',
      nodes: { a: { disks: { d: FULL } } },
      want: ['free-space 1/0', 'set-setting storage-minimal-available-percentage=24', 'add-disk', 'add-node'],
    },
    {
      name: 'a disk that is too full and booked too far: one act frees both',
      nodes: { a: { disks: { d: { ...FULL, ...BOOKED } } } },
      want: ['free-space 1/1', 'add-disk', 'add-node'],
    },
    {
      name: 'a full disk on a cordoned node: two changes',
      nodes: { a: { cordoned: true, disks: { d: FULL } } },
      want: [
        'uncordon-node + free-space 1/0',
        'uncordon-node + set-setting storage-minimal-available-percentage=24',
        'set-setting disable-scheduling-on-cordoned-node=false + free-space 1/0',
        'set-setting disable-scheduling-on-cordoned-node=false + set-setting storage-minimal-available-percentage=24',
        'add-node',
      ],
    },
    {
      name: 'three obstacles: only hardware',
      nodes: { a: { cordoned: true, allowScheduling: false, disks: { d: FULL } } },
      want: ['add-node'],
    },
  ])('what the cures of $name are, each enough and none more than needed', (given) => {
    const question = questionOf(given);
    expect(fits(question)).toBe(false);
    const { cures } = findCures(question);
    expect(cures.map(({ changes }) => changes.map(label).join(' + '))).toEqual(given.want);
    for (const { changes, leadsTo } of cures) {
      const decision = decidePlacement(cycleOf(withChanges(question, changes)));
      expect(decision).toMatchObject({ kind: 'placed', tier: leadsTo.tier });
    }
  });

  test('two changes are no advice where one is enough', () => {
    const nodes = { a: { cordoned: true }, b: { cordoned: true, disks: { 'b-d': FULL } } };
    const kinds = findCures(questionOf({ nodes })).cures.map(({ changes }) => changes.map(label).join(' + '));
    expect(kinds).toEqual([
      'uncordon-node',
      'set-setting disable-scheduling-on-cordoned-node=false',
      'add-node',
    ]);
  });

  test('dropping more tags from the selector than one has to is no advice; dropping others is', () => {
    const disks = { bare: {}, big: { tags: ['big'] }, ssd: { tags: ['ssd'] } };
    const spec = { diskSelector: ['ssd', 'fast', 'big'] };
    const cures = findCures(questionOf({ nodes: { a: { disks } }, spec })).cures;
    const dropped = cures.flatMap(({ changes: [change] }) =>
      change?.kind === 'remove-selector-tags' ? [change.tags] : [],
    );
    expect(dropped).toEqual([
      ['big', 'fast'],
      ['fast', 'ssd'],
    ]);
  });

  test('of many disks the ones that need fewest bytes come first, a few only', () => {
    const disks = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [
        `d${index}`,
        { storageScheduledBytes: 90 * GIB + 1 + ((index * 7) % 30) },
      ]),
    );
    const { cures, isComplete } = findCures(questionOf({ nodes: { a: { disks } } }));
    const freed = cures.flatMap(({ changes: [change] }) => (change?.kind === 'free-space' ? [change] : []));
    expect(freed.map(({ releaseBytes }) => releaseBytes)).toEqual([1, 2, 3, 4]);
    expect(isComplete).toBe(false);
  });
});

function label(change: CureChange): string {
  switch (change.kind) {
    case 'set-setting':
      return `${change.kind} ${change.setting}=${change.to}`;
    case 'set-override':
      return `${change.kind} ${change.field}`;
    case 'free-space':
      return `${change.kind} ${change.freeBytes}/${change.releaseBytes}`;
    case 'add-node':
      return change.zone === null ? change.kind : `${change.kind} ${change.zone}`;
    case 'wait-until':
      return `${change.kind} ${change.at}`;
    case 'tag-node':
    case 'tag-disk':
    case 'remove-selector-tags':
    case 'add-selector-tags':
      return `${change.kind} ${change.tags.join()}`;
    default:
      return change.kind;
  }
}

describe('which cures are told, and how', () => {
  test('equal ones by the names that people know, at most four of a kind', () => {
    const cordoned = { cordoned: true };
    const nodes = { e: cordoned, c: cordoned, a: cordoned, d: cordoned, b: cordoned };
    const ids = Object.fromEntries(Object.keys(nodes).map((name, at) => [name, `${9 - at}`]));
    const question = questionOf({ nodes });
    // Ids run the other way than names.
    const fleet = {
      ...question.fleet,
      nodes: question.fleet.nodes.map((node) => ({ ...node, id: asId<NodeId>(ids[node.name] ?? '') })),
      disks: question.fleet.disks.map((disk) => ({ ...disk, nodeId: asId<NodeId>(ids[disk.nodeId] ?? '') })),
    };
    const { cures, isComplete } = findCures({ ...question, fleet });
    const named = cures.flatMap(({ changes }) =>
      changes.map((change) => 'nodeName' in change && change.nodeName),
    );
    expect(named.filter((name) => name !== false)).toEqual(['a', 'b', 'c', 'd']);
    expect(isComplete).toBe(false);
  });

  test('two pairs of a kind: a third disk would be no other advice', () => {
    const nodes = { a: {}, b: {}, c: {} };
    const { cures } = findCures(questionOf({ nodes, spec: { nodeSelector: ['x'], diskSelector: ['y'] } }));
    const kinds = cures.map(({ changes }) => changes.map(({ kind }) => kind).join(' + '));
    expect(kinds.filter((kind) => kind === 'tag-node + tag-disk')).toHaveLength(2);
    expect(cures[0]?.sentence).toBe(
      'Tag node a with x, and tag disk a-disk of node a with y: the replica then goes to disk a-disk of node a. That is enough for 1 of 3 copies without a place.',
    );
  });

  test('a file that is too large for ext4 wants a disk with xfs, a smaller one any disk', () => {
    const sentences = (sizeBytes: number) => {
      const nodes = {
        a: { disks: { d: { fileSystem: 'ext4', bytes: 64 * TIB, storageScheduledBytes: 64 * TIB } } },
      };
      return findCures(questionOf({ nodes, spec: { sizeBytes } })).cures.map(({ sentence }) => sentence);
    };
    expect(sentences(16 * TIB)[0]).toContain('Add a filesystem (xfs) disk of at least 16 TiB to node a: ');
    expect(sentences(16 * TIB - 4096).join()).toContain(
      'dd a filesystem disk of at least 16.0 TiB (17592186040320 bytes)',
    );
  });

  test('where each leads: hardware that is yet to be bought has no id, a node that may be anywhere no zone', () => {
    const leadsTo = (given: Parameters<typeof questionOf>[0]) =>
      findCures(questionOf(given)).cures.map((cure) => cure.leadsTo);
    const tier = 'unused-node-in-unused-zone';
    const onA = { nodeId: 'a', nodeName: 'a', zone: 'z', tier };
    const newNode = { nodeId: null, nodeName: 'new-node', diskId: null, diskName: 'new-disk', tier };
    expect(leadsTo({ nodes: { a: { zone: 'z', disks: {} } } })).toEqual([
      { ...onA, diskId: null, diskName: 'new-disk' },
      { ...newNode, zone: null },
    ]);
    expect(leadsTo({ nodes: { a: { zone: 'z', allowScheduling: false } } })[0]).toEqual({
      ...onA,
      diskId: 'a-disk',
      diskName: 'a-disk',
    });
    const hard = { replicaZoneSoftAntiAffinity: 'disabled', replicaSoftAntiAffinity: 'disabled' } as const;
    const taken = { nodes: { a: { zone: 'z' } }, replicas: [aReplicaOn('a-disk')], spec: hard };
    expect(leadsTo(taken).at(-1)).toEqual({ ...newNode, zone: 'new-zone' });
  });

  test('how many were tried, and whether the bound ended the search', () => {
    const searched = (given: Parameters<typeof questionOf>[0]) => {
      const { tried, isComplete } = findCures(questionOf(given));
      return { tried, isComplete };
    };
    // A node anywhere; in a new zone it would be no further advice.
    expect(searched({ nodes: {} })).toEqual({ tried: 1, isComplete: true });
    const cordoned = { cordoned: true };
    expect(searched({ nodes: { a: cordoned, b: cordoned, c: cordoned, d: cordoned } })).toEqual({
      tried: 6,
      isComplete: true,
    });
    expect(searched({ nodes: { a: cordoned, b: cordoned, c: cordoned, d: cordoned, e: cordoned } })).toEqual({
      tried: 6,
      isComplete: false,
    });
  });

  test('of one kind the fewest bytes come first, and a pair is as large as its larger part', () => {
    const disks = {
      x: { bytes: 20 * GIB, storageScheduledBytes: 13 * GIB },
      y: { bytes: 20 * GIB, storageScheduledBytes: 11 * GIB },
    };
    const [first, second] = findCures(questionOf({ nodes: { a: { disks } } })).cures;
    expect([first?.leadsTo.diskName, second?.leadsTo.diskName]).toEqual(['y', 'x']);
    // To uncordon is little and to move bytes is more; a tag is between them.
    const nodes = {
      a: { cordoned: true, disks: { 'a-1': BOOKED } },
      b: { cordoned: true, disks: { 'b-1': { tags: ['hdd'] } } },
    };
    const settings = { 'allow-empty-disk-selector-volume': false };
    const [smallest] = findCures(questionOf({ nodes, settings })).cures;
    expect(smallest?.changes.map(({ kind }) => kind)).toEqual(['uncordon-node', 'add-selector-tags']);
  });
});

describe('a cure of a volume of which several copies have no place', () => {
  const nodes = {
    a: { disks: { 'a-1': BOOKED } },
    b: { disks: { 'b-1': BOOKED } },
    c: { disks: { 'c-1': BOOKED } },
  };
  const enoughFor = (numberOfReplicas: number, replicas: Replica[] = []) => {
    const { cures } = findCures(questionOf({ nodes, spec: { numberOfReplicas }, replicas }));
    return new Map(
      cures.map(({ sentence, changes }) => [changes[0]?.kind, sentence.match(/enough for (.*) copies/)?.[1]]),
    );
  };

  test('says for how many it is enough', () => {
    const told = enoughFor(3);
    expect(told.get('set-setting')).toBe('all 3');
    expect(told.get('add-disk')).toBe('1 of 3');
    expect(told.get('add-node')).toBe('1 of 3');
  });

  test('counts those only that have none', () => {
    expect(enoughFor(3, [aReplicaOn('a-1')]).get('set-setting')).toBe('both');
    expect(enoughFor(2, [aReplicaOn('a-1')]).get('set-setting')).toBeUndefined();
  });
});
