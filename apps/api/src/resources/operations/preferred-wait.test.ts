import { expect, test } from '@jest/globals';
import { preferredWaitMs } from './preferred-wait.js';

test.each<{ header: string | undefined; wantMs: number | undefined }>([
  { header: undefined, wantMs: undefined },
  { header: 'wait=10', wantMs: 10_000 },
  { header: 'respond-async, Wait = "5"; a=b', wantMs: 5_000 },
  { header: 'wait=0', wantMs: 0 },
  { header: 'wait=86400', wantMs: 30_000 },
  { header: 'wait=3, wait=7', wantMs: 3_000 },
  { header: 'wait, wait=7', wantMs: undefined },
  { header: 'wait=soon', wantMs: undefined },
  { header: 'wait=-1', wantMs: undefined },
  { header: 'wait=1.5', wantMs: undefined },
  { header: 'waiting=5, return=minimal', wantMs: undefined },
])('Prefer: $header is $wantMs ms', ({ header, wantMs }) => {
  expect(preferredWaitMs(header)).toBe(wantMs);
});
