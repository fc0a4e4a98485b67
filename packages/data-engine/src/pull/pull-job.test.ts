/** Notification of the engine that waits for news of a pull. */
import { expect, test } from '@jest/globals';
import { SYSTEM_TIME } from '../base/time.js';
import { portsOf } from '../nbd/ports.js';
import type { Replica } from '../replica/replica.js';
import { PullJob } from './pull-job.js';

const WAIT = { state: 'copying', atMostMs: 400 } as const;

/** A pull with nothing to transfer, whose clock advances only on command. */
function pullOfNothing() {
  const due = new Set<() => void>();
  const after = (_ms: number, call: () => void) => {
    due.add(call);
    return () => due.delete(call);
  };
  const spec = {
    epoch: 1,
    rebuildId: 'one',
    layers: [],
    blockHash: 'blake3',
    tuning: { bandwidthBytesPerSecond: null, paused: false },
  } as const;
  const unreached = () => {
    throw new Error('there is nothing to ask for');
  };
  // The cast: without layers it touches no copy.
  const job = new PullJob({} as Replica, spec, unreached, portsOf({ time: { ...SYSTEM_TIME, after } }));
  return { job, due };
}

test('news of another state is told when it comes, whatever time was left', async () => {
  const { job, due } = pullOfNothing();
  const told = job.leaves(WAIT);
  expect(due.size).toBe(1);
  job.start([]);
  await told;
  expect(due.size).toBe(0);
  expect(job.progress().state).not.toBe('copying');
});

test('an engine that is behind is told at once', async () => {
  const { job, due } = pullOfNothing();
  job.start([]);
  await job.cancel();
  await job.leaves(WAIT);
  expect(due.size).toBe(0);
});

test('without news the wait ends with its time', async () => {
  const { job, due } = pullOfNothing();
  const told = job.leaves(WAIT);
  for (const call of due) call();
  await told;
  expect(job.progress().state).toBe('copying');
});
