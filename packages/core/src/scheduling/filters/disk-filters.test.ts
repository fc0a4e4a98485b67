import { GIB, TIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aRequest, type DiskPart, outcomeOf } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { SettingName } from '../../model/setting.js';
import type { SettingValue } from '../../settings/effective.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { placeReplica } from '../placement/place-replica.js';

type Case = {
  name: string;
  disk?: DiskPart;
  request?: Partial<PlacementRequest>;
  settings?: Partial<Record<SettingName, SettingValue>>;
  want: string;
};

const ask = ({ disk = {}, request = {}, settings = {} }: Case) =>
  outcomeOf(placeReplica(aRequest(request), aFleet({ n1: { disks: { d: disk } } }, settings), NOON));

describe('rules about disks', () => {
  test.each<Case>([
    { name: 'a disk that is not ready', disk: { ready: false }, want: 'DiskNotReady' },
    { name: 'a disk with scheduling off', disk: { allowScheduling: false }, want: 'DiskSchedulingDisabled' },
    { name: 'a disk that is being emptied', disk: { evictionRequested: true }, want: 'DiskEvicting' },
    { name: 'a block disk for v1', disk: { type: 'block' }, want: 'DiskTypeMismatch' },
    { name: 'a block disk for v2', disk: { type: 'block' }, request: { dataEngine: 'v2' }, want: 'd' },
    { name: 'a file system disk for v2', request: { dataEngine: 'v2' }, want: 'DiskTypeMismatch' },
    {
      name: '16 TiB on ext4',
      disk: { fileSystem: 'ext4', bytes: 64 * TIB },
      request: { sizeBytes: 16 * TIB },
      want: 'FileSystemLimit',
    },
    {
      name: 'one block less than 16 TiB on ext4',
      disk: { fileSystem: 'ext4', bytes: 64 * TIB },
      request: { sizeBytes: 16 * TIB - 4096 },
      want: 'd',
    },
    { name: '16 TiB on xfs', disk: { bytes: 64 * TIB }, request: { sizeBytes: 16 * TIB }, want: 'd' },
    {
      name: 'a missing tag',
      disk: { tags: ['hdd'] },
      request: { diskSelector: ['ssd'] },
      want: 'DiskTagsMissing',
    },
    { name: 'the tag', disk: { tags: ['ssd', 'new'] }, request: { diskSelector: ['ssd'] }, want: 'd' },
    {
      name: 'a tagged disk that is kept',
      disk: { tags: ['ssd'] },
      settings: { 'allow-empty-disk-selector-volume': false },
      want: 'DiskTagsMissing',
    },
    {
      name: 'another disk than the one to reuse',
      request: { reuseDiskId: asId<DiskId>('e') },
      want: 'DiskNotReused',
    },
  ])('$name → $want', (row) => {
    expect(ask(row)).toBe(row.want);
  });
});

describe('space', () => {
  const disk: DiskPart = { storageMaximumBytes: 100, storageAvailableBytes: 50 };
  test.each<Case>([
    { name: 'one byte above the minimum', disk, request: { sizeBytes: 1, writtenBytes: 24 }, want: 'd' },
    {
      name: 'exactly the minimum',
      disk,
      request: { sizeBytes: 1, writtenBytes: 25 },
      want: 'InsufficientFreeSpace',
    },
    {
      name: 'the reserve plays no part in free space',
      disk: { ...disk, storageReservedBytes: 90 },
      request: { sizeBytes: 1, writtenBytes: 24 },
      want: 'd',
    },
    {
      name: 'exactly the over-provisioning limit',
      disk: { ...disk, storageScheduledBytes: 90 },
      request: { sizeBytes: 10 },
      want: 'd',
    },
    {
      name: 'one byte past the limit',
      disk: { ...disk, storageScheduledBytes: 90 },
      request: { sizeBytes: 11 },
      want: 'InsufficientProvisionableSpace',
    },
    {
      name: 'the reserve lowers the limit',
      disk: { ...disk, storageReservedBytes: 40 },
      request: { sizeBytes: 61 },
      want: 'InsufficientProvisionableSpace',
    },
    {
      name: 'over-provisioning raises it',
      disk: { ...disk, storageReservedBytes: 40 },
      settings: { 'storage-over-provisioning-percentage': 200 },
      request: { sizeBytes: 120 },
      want: 'd',
    },
    {
      name: 'a disk of no size',
      disk: { bytes: 0 },
      request: { sizeBytes: 0 },
      want: 'InsufficientFreeSpace',
    },
    {
      name: 'a full disk although the minimum is 0',
      disk: { storageMaximumBytes: 100, storageAvailableBytes: 0 },
      settings: { 'storage-minimal-available-percentage': 0 },
      request: { sizeBytes: 1 },
      want: 'InsufficientFreeSpace',
    },
    {
      name: 'a reused replica needs no space: it is booked already',
      disk: { storageMaximumBytes: 100, storageAvailableBytes: 1, storageScheduledBytes: 100 },
      request: { sizeBytes: GIB, reuseDiskId: asId<DiskId>('d') },
      want: 'd',
    },
  ])('$name → $want', (row) => {
    expect(ask(row)).toBe(row.want);
  });
});
