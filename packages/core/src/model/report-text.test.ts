import { describe, expect, test } from '@jest/globals';
import type { DiskReport, EngineReport, Heartbeat } from './agent-protocol.js';
import { asId, type DiskId } from './ids.js';
import { reportText, unconfirmedStamps } from './report-text.js';

const DISK = asId<DiskId>('disk-1');
const OTHER = asId<DiskId>('disk-2');
const [BEFORE, STAMP, NEXT] = ['stamp-0', 'stamp-1', 'stamp-2'];
const stampOf = (id: string | null, trail: string[] = []) => ({
  id,
  generation: trail.length + 1,
  trail,
  isOpen: true,
  fileId: 'file',
});
// The casts: only the compared fields exist.
const disk = (part: object = {}) =>
  ({ diskId: DISK, ready: true, availableBytes: 5, stamp: stampOf(STAMP), ...part }) as DiskReport;
const engine = () => ({ volumeId: 'volume-1', rebuilds: [] }) as unknown as EngineReport;
const report = (part: Partial<Heartbeat> = {}) =>
  ({ node: { name: 'node-1' }, disks: [disk()], replicas: [], engines: [], ...part }) as Heartbeat;

describe('reportText', () => {
  test.each<{ name: string; other: Heartbeat; same: boolean }>([
    {
      name: 'an advanced stamp',
      other: report({ disks: [disk({ stamp: stampOf(NEXT, [STAMP]) })] }),
      same: true,
    },
    { name: 'other free bytes', other: report({ disks: [disk({ availableBytes: 4 })] }), same: false },
    {
      name: 'a stamp that says closed',
      other: report({ disks: [disk({ stamp: { ...stampOf(STAMP), isOpen: false } })] }),
      same: false,
    },
    {
      name: 'another identity file',
      other: report({ disks: [disk({ stamp: { ...stampOf(STAMP), fileId: 'copy' } })] }),
      same: false,
    },
    { name: 'no stamp any more', other: report({ disks: [disk({ stamp: undefined })] }), same: false },
    { name: 'one engine more', other: report({ engines: [engine()] }), same: false },
  ])('$name', ({ other, same }) => {
    expect(reportText(other) === reportText(report())).toBe(same);
  });

  test('the order of disks, copies and engines does not matter', () => {
    const [first, second] = [disk(), disk({ diskId: OTHER })];
    expect(reportText(report({ disks: [first, second] }))).toBe(
      reportText(report({ disks: [second, first] })),
    );
  });
});

test('stamps are sent until they are confirmed', () => {
  const heartbeat = report({ disks: [disk(), disk({ diskId: OTHER, stamp: undefined })] });
  expect(unconfirmedStamps(heartbeat, new Map())).toEqual([{ diskId: DISK, stamp: stampOf(STAMP) }]);
  expect(unconfirmedStamps(heartbeat, new Map([[DISK, BEFORE]]))).toHaveLength(1);
  expect(unconfirmedStamps(heartbeat, new Map([[DISK, STAMP]]))).toEqual([]);
});
