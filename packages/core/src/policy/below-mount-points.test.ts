import { aDiskReport, testId } from '@holdfast/testkit/builders.js';
import { expect, test } from '@jest/globals';
import { asId, type DiskId } from '../model/ids.js';
import type { StorageDisk } from '../model/node.js';
import { belowMountPoints } from './below-mount-points.js';

const MISSING = asId<DiskId>(testId(1));
const FOUND = asId<DiskId>(testId(2));
const mounted: StorageDisk['conditions'] = [
  { type: 'Mounted', status: 'True', reason: '', message: '', lastTransitionAt: new Date() },
];
const known = (conditions = mounted) => ({ id: MISSING, name: 'disk-1', path: '/mnt/a', conditions });
const found = { path: '/mnt/a', onRootFileSystem: true };

test('a new disk beneath the mount point of a missing one is not ready, and says which one is missing', () => {
  const [report] = belowMountPoints([aDiskReport(FOUND, found)], [known()]);
  expect(report).toMatchObject({ ready: false, reason: 'DiskNotMounted' });
  expect(report?.message).toContain(`disk disk-1 (${MISSING})`);
});

test.each([
  { what: 'on a file system of its own', part: { onRootFileSystem: false } },
  { what: 'of an agent that does not say where it is', part: { onRootFileSystem: undefined } },
  { what: 'at another path', part: { path: '/mnt/b' } },
  { what: 'where the disk was on the root file system before', conditions: [] },
  { what: 'that is the known one', part: { diskId: MISSING } },
])('a disk $what is taken as it is', ({ part = {}, conditions }) => {
  const report = aDiskReport(FOUND, { ...found, ...part });
  expect(belowMountPoints([report], [known(conditions)])).toEqual([report]);
});

test('a disk whose missing one was taken off is ready', () => {
  const report = aDiskReport(FOUND, found);
  expect(belowMountPoints([report], [])).toEqual([report]);
});
