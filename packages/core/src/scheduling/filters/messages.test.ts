/** What each rule says: for users, so every word and number counts. */
import { GIB, TIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId, type NodeId } from '@holdfast/core/model/ids.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, aRequest, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import type { SettingName } from '../../model/setting.js';
import type { SettingValue } from '../../settings/effective.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { placeReplica } from '../placement/place-replica.js';

type Case = {
  name: string;
  node?: NodePart;
  request?: Partial<PlacementRequest>;
  settings?: Partial<Record<SettingName, SettingValue>>;
  message: string;
  cure: string;
  numbers?: object;
};

const TAGGED = { tags: ['hdd'] };
const KEPT = { 'allow-empty-node-selector-volume': false, 'allow-empty-disk-selector-volume': false };
const topology = (zone?: string, region?: string) => ({ topology: [{ zone, region }] });

test.each<Case>([
  {
    name: 'a node without the tags',
    node: TAGGED,
    request: { nodeSelector: ['ssd', 'fast'] },
    message: 'node n lacks a tag of [ssd, fast]',
    cure: 'tag n with ssd, fast',
  },
  {
    name: 'a node that is kept',
    node: TAGGED,
    settings: KEPT,
    message: 'node n is kept for volumes that select its tags',
    cure: 'give the volume a node selector, or set allow-empty-node-selector-volume to true',
  },
  {
    name: 'a disk without the tags',
    node: { disks: { d: TAGGED } },
    request: { diskSelector: ['ssd', 'fast'] },
    message: 'disk d lacks a tag of [ssd, fast]',
    cure: 'tag disk d with ssd, fast',
  },
  {
    name: 'a disk that is kept',
    node: { disks: { d: TAGGED } },
    settings: KEPT,
    message: 'disk d is kept for volumes that select its tags',
    cure: 'give the volume a disk selector, or set allow-empty-disk-selector-volume to true',
  },
  {
    name: 'a zone',
    request: topology('z'),
    message: 'node n is not in zone z',
    cure: 'label a node with zone z',
  },
  {
    name: 'a region',
    request: topology(undefined, 'r'),
    message: 'node n is not in region r',
    cure: 'label a node with region r',
  },
  {
    name: 'several terms',
    request: { topology: [...topology('z', 'r').topology, ...topology('y').topology] },
    message: 'node n is not in region r, zone z or zone y',
    cure: 'label a node with region r, zone z or zone y',
  },
  {
    name: 'a pin to a node that is gone',
    request: { requiredNodeId: asId<NodeId>('m') },
    message: 'the replica has to be on node m',
    cure: 'make room on m',
  },
  {
    name: 'a disk whose agent says only that something is wrong',
    node: { disks: { d: { ready: false } } },
    message: 'disk d is not ready',
    cure: 'repair disk d',
  },
  {
    name: 'too little free',
    node: { disks: { d: { bytes: 100 * GIB, storageAvailableBytes: 40 * GIB } } },
    request: { writtenBytes: 20 * GIB },
    message: 'disk d would have 20 GiB free and must keep more than 25 GiB',
    cure: 'free space on disk d, add a disk, or lower storage-minimal-available-percentage',
    numbers: { requiredBytes: 20 * GIB, availableBytes: 40 * GIB, thresholdBytes: 25 * GIB },
  },
  {
    name: 'too little left to give',
    node: { disks: { d: { bytes: 100 * GIB, storageScheduledBytes: 70 * GIB } } },
    request: { sizeBytes: 31 * GIB },
    message: 'disk d has 30 GiB of 100 GiB left to give and the replica needs 31 GiB',
    cure: 'add a disk, remove volumes, lower the reserve of disk d, or raise storage-over-provisioning-percentage',
    numbers: { requiredBytes: 31 * GIB, availableBytes: 30 * GIB, thresholdBytes: 100 * GIB },
  },
  {
    name: 'more given than there is',
    node: { disks: { d: { bytes: 100 * GIB, storageScheduledBytes: 120 * GIB } } },
    message: 'disk d has 0 B of 100 GiB left to give and the replica needs 1 GiB',
    cure: 'add a disk, remove volumes, lower the reserve of disk d, or raise storage-over-provisioning-percentage',
    numbers: { requiredBytes: GIB, availableBytes: -20 * GIB, thresholdBytes: 100 * GIB },
  },
  {
    name: 'a file that is too large',
    node: { disks: { d: { fileSystem: 'ext4', bytes: 64 * TIB } } },
    request: { sizeBytes: 16 * TIB },
    message: 'ext4 on disk d holds files below 16 TiB only',
    cure: 'use a disk with xfs, or a smaller volume',
    numbers: { requiredBytes: 16 * TIB, availableBytes: 16 * TIB - 1, thresholdBytes: 16 * TIB },
  },
  {
    name: 'another replica on the node',
    node: { disks: { 'n-1': {} } },
    request: { replicas: [aReplicaOn('n-1')] },
    message: 'node n holds replica on-n-1 of this volume',
    cure: 'add a node, or enable replicaSoftAntiAffinity',
  },
  {
    name: 'another disk to reuse',
    request: { reuseDiskId: asId<DiskId>('e') },
    node: { disks: { d: {} } },
    message: 'disk d does not hold the failed replica',
    cure: 'wait until a new replica may be built',
  },
])(
  'the message of a refusal says what is in the way: $name',
  ({ node = {}, request = {}, settings = {}, message, cure, numbers }) => {
    const placement = placeReplica(aRequest(request), aFleet({ n: node }, settings), NOON);
    const [refusal] = placement.kind === 'refused' ? placement.refusals : [];
    expect(refusal?.rejection).toMatchObject({ message, cure });
    expect(refusal?.rejection.numbers).toEqual(numbers);
  },
);

test('what an agent says about its disk is passed on', () => {
  const fleet = aFleet({ n: { disks: { d: { ready: false } } } });
  const disks = fleet.disks.map((disk) => ({
    ...disk,
    conditions: disk.conditions.map((condition) => ({ ...condition, message: 'the folder is gone' })),
  }));
  const placement = placeReplica(aRequest(), { ...fleet, disks }, NOON);
  expect(placement.kind === 'refused' && placement.refusals[0]?.rejection.message).toBe(
    'disk d is not ready: the folder is gone',
  );
});
