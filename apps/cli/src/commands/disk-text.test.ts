import { expect, test } from '@jest/globals';
import type { Disk } from '../types.js';
import { describeDisk } from './disk-text.js';

const disk: Disk = {
  id: 'd',
  nodeId: 'n',
  name: 'disk-1',
  path: '/disks/1',
  type: 'filesystem',
  fileSystem: 'ext4',
  tags: [],
  labels: {},
  allowScheduling: true,
  evictionRequested: false,
  storageReserved: 0,
  storageMaximum: 2 ** 40,
  storageAvailable: 2 ** 39,
  storageScheduled: 2 ** 30,
  writtenBytes: 0,
  conditions: [],
  answers: {
    calls: 60,
    p50Ms: 3,
    p99Ms: 900,
    maxMs: 7_000,
    oldestMs: 12_000,
    at: '2026-01-01T12:00:00.000Z',
  },
  addedAt: null,
  removalRequestedAt: null,
  version: 1,
};

test.each([
  {
    name: 'a slow one',
    answers: disk.answers,
    says: 'half within 3 ms, 99 of 100 within 900 ms, the slowest 7.0 s; a call has been waiting for 12.0 s',
  },
  { name: 'one whose agent does not say', answers: null, says: 'not known' },
])('a disk is described with how it answers: $name', ({ answers, says }) => {
  expect(describeDisk({ ...disk, answers }, 'node-1')).toContain(`answers   ${says}`);
});
