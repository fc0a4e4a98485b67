/** References of an engine's links to a write that has ended. */
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import type { NbdExport, WriteListener } from '../nbd/export.js';
import { PendingTold } from '../nbd/pending-request.js';
import { LocalLink } from './local-link.js';

/** Has what links keep of a write, and references that keep nothing alive. */
type Ended = { readonly kept: unknown; readonly ofCaller: readonly WeakRef<object>[] };

/** A caller's listener and tag: an engine's lead to the payload. */
const caller = () => ({
  listener: { written: () => undefined },
  tag: { payload: [Buffer.alloc(BLOCK_BYTES)] },
});

function overConnection(): Ended {
  const { listener, tag } = caller();
  const kept = new PendingTold(0, listener, tag);
  kept.answered();
  return { kept, ofCaller: [new WeakRef(listener), new WeakRef(tag)] };
}

function inThisProcess(): Ended {
  const { listener, tag } = caller();
  const kept: unknown[] = [];
  const copy = {
    sizeBytes: BLOCK_BYTES,
    beginWrite<Tag>(_: unknown, told: WriteListener<Tag>, ofLink: Tag) {
      kept.push(ofLink);
      told.written(ofLink, undefined);
    },
  };
  // The cast: a write uses no other part of a copy.
  const link = new LocalLink(copy as unknown as NbdExport, { nowMs: () => 0 });
  link.beginWrite({ offset: 0, lengthBytes: BLOCK_BYTES, payload: tag.payload, fua: false }, listener, tag);
  return { kept, ofCaller: [new WeakRef(listener), new WeakRef(tag)] };
}

test.each([
  { name: 'over a connection', write: overConnection },
  { name: 'in the same process', write: inThisProcess },
])('a write $name that has ended leads to nothing of its caller', async ({ write }) => {
  const { kept, ofCaller } = write();
  // Objects behind a reference that was made or read stay alive until the turn ends.
  await turn();
  collectGarbage();
  expect(ofCaller.map((reference) => reference.deref())).toEqual([undefined, undefined]);
  expect(kept).toBeDefined();
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
