import type { DiskReport } from '@holdfast/core/model/agent-protocol.js';
import { type DiskAnswers, HUNG_MS, OUTLIER_MS } from '@holdfast/core/model/disk-answers.js';
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
let nowMs: number;
let peers: DiskAnswers[];

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
  nowMs = 0;
  peers = [];
  const options = { peers: () => peers, nowMs: () => nowMs, limitMs: LIMIT_MS };
  disk = new WatchedDisk(plain as unknown as Disk, entry, options);
});

afterEach(() => open?.());

describe('WatchedDisk', () => {
  test('a disk that answers is reported as it is', async () => {
    expect(await disk.report(0)).toMatchObject(report);
    expect(await disk.problem()).toBeUndefined();
  });

  test('a disk that hangs is reported as hung, and gets no further calls', async () => {
    await disk.report(0);
    hang();
    await disk.report(0);
    nowMs = HUNG_MS + 1;
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

  test('a disk that is slow under load stays as it was reported, with few calls, until no load explains it', async () => {
    await disk.report(0);
    hang();
    peers = [{ oldestMs: 5_000, tookMs: [7_000] }];
    await disk.report(0);
    const before = calls;
    for (nowMs = 1_000; nowMs <= HUNG_MS; nowMs += 1_000) {
      expect(await disk.report(0)).toMatchObject(report);
      expect(await disk.problem()).toMatchObject({ reason: 'DiskSlow' });
    }
    expect(calls).toBe(before);
    nowMs = OUTLIER_MS + 1;
    peers = [{ oldestMs: 0, tookMs: [3, 4] }];
    expect(await disk.report(0)).toMatchObject({ ready: false, reason: 'DiskHung' });
    expect(disk.answers.tookMs).toHaveLength(1);
  });

  test('the report says how it has answered in the last two minutes, and for how long a call has been owed', async () => {
    await disk.report(0);
    nowMs = 119_000;
    expect(await disk.report(0)).toMatchObject({ answers: { calls: 2, oldestMs: 0 } });
    nowMs = 121_000;
    hang();
    await disk.report(0);
    nowMs = 124_000;
    // The first call is older than the reported period.
    expect(await disk.report(0)).toMatchObject({
      ready: true,
      answers: { calls: 1, maxMs: 0, oldestMs: 3_000 },
    });
    open();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await disk.report(0)).toMatchObject({ answers: { calls: 3, maxMs: 3_000, oldestMs: 0 } });
  });

  test('a disk that has not answered since the start of the agent is not ready, and says how long it has been waited for', async () => {
    hang();
    await disk.report(0);
    nowMs = 3_000;
    expect(await disk.report(0)).toMatchObject({
      ready: false,
      reason: 'DiskSlow',
      message: '/disk answers slowly: a call has been waiting for it for 3.0 s',
    });
  });

  test('a hung disk is used again once it has answered', async () => {
    hang();
    await disk.report(0);
    open();
    gate = Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await disk.report(0)).toMatchObject(report);
  });
});

function hang(): void {
  gate = new Promise((resolve) => {
    open = resolve;
  });
}
