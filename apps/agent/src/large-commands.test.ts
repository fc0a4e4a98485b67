/** Commands that are too large for one message, over the agent's own server, with its limits. */
import crypto from 'node:crypto';
import { MIB } from '@holdfast/core/model/bytes.js';
import type { Answer } from '@holdfast/data-engine/protocol/commands.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CommandServer, expectSame, pairs, SECRET } from '../test/command-server.js';

const TIB = 1024 * 1024 * MIB;

const server = new CommandServer();
beforeEach(() => server.start());
afterEach(() => server.stop());

test('the largest lawful intent and clear-intent: every second region of 64 TiB', async () => {
  const marker = { life: crypto.randomUUID(), changes: 7 };
  const regions = pairs((64 * TIB) / (16 * MIB) / 2, 16 * MIB);
  const marked: Answer<'intent'> = { regionBytes: 16 * MIB, regions, marker };
  server.reply = marked;
  const answer = await server.control().command('intent', { epoch: 1 });
  expect(answer.regions.length).toBe(regions.length);
  expectSame(answer, marked);
  server.reply = null;
  const ask = { epoch: 1, marker, regions };
  await server.control().command('clear-intent', ask);
  expectSame(server.received, ask);
});

test('pages are taken and given with the secret of the copy only, and in full only', async () => {
  const ask = { epoch: 1, regions: pairs(20_000, 1), marker: { life: 'x', changes: 1 } };
  server.received = undefined;
  await expect(server.control('another-secret-of-it').command('clear-intent', ask)).rejects.toMatchObject({
    code: 'auth.invalid',
  });
  const url = `${server.controlUrl}/v1/replicas/${server.replicaId}/commands/clear-intent`;
  const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ pagedMessage: crypto.randomUUID() });
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(412);
  expect(server.received).toBeUndefined();
});
