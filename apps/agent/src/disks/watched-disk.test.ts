import type { DiskReport } from '@holdfast/core/model/agent-protocol.js';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Disk } from './disk.js';
import { WatchedDisk } from './watched-disk.js';

const LIMIT_MS = 50;
const entry = { type: 'filesystem' as const, path: '/disk', sizeBytes: 1000 };
const report: DiskReport = {
  diskId: asId<DiskId>('id'),
  name: 'disk',
  path: '/disk',
  type: 'filesystem',
  fileSystem: 'ext4',
  maximumBytes: 900,
  availableBytes: 10,
  ready: true,
  reason: '',
  message: '',
};

let calls: number;
/** Resolves when calls of the disk may go on. */
let gate: Promise<void>;
let open: () => void;
let disk: WatchedDisk;

beforeEach(() => {
  calls = 0;
  gate = Promise.resolve();
  const answer = async <T>(value: T): Promise<T> => {
    calls += 1;
    await gate;
    return value;
  };
  const plain = {
    diskId: asId<DiskId>('id'),
    name: 'disk',
    path: '/disk',
    problem: () => answer(undefined),
    isAbsent: () => answer(false),
    requireUsable: () => answer(undefined),
    replicaIds: () => answer([]),
    report: () => answer(report),
  };
  // The cast: what the test does not use is left out.
  disk = new WatchedDisk(plain as unknown as Disk, entry, LIMIT_MS);
});

afterEach(() => open?.());

describe('WatchedDisk', () => {
  test('a disk that answers is reported as it is', async () => {
    expect(await disk.report(0)).toEqual(report);
    expect(await disk.problem()).toBeUndefined();
  });

  test('a disk that hangs is reported as hung, and gets no further calls', async () => {
    await disk.report(0);
    hang();
    expect(await disk.report(0)).toMatchObject({ ready: false, reason: 'DiskHung', maximumBytes: 900 });
    const before = calls;
    for (let i = 0; i < 3; i += 1) {
      expect(await disk.report(0)).toMatchObject({ reason: 'DiskHung' });
      expect(await disk.problem()).toMatchObject({ reason: 'DiskHung' });
      for (const use of [disk.requireUsable(), disk.isAbsent(), disk.replicaIds()])
        await expect(use).rejects.toMatchObject({ code: 'disk.not_ready' });
    }
    expect(calls).toBe(before);
  });

  test('a hung disk is used again once it has answered', async () => {
    hang();
    await disk.report(0);
    open();
    gate = Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await disk.report(0)).toEqual(report);
  });
});

function hang(): void {
  gate = new Promise((resolve) => {
    open = resolve;
  });
}
