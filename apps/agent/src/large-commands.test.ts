/** Commands that are too large for one message, over the agent's own server, with its limits. */
import crypto from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CommandServer, pairs, SECRET } from '../test/command-server.js';

const server = new CommandServer();
beforeEach(() => server.start());
afterEach(() => server.stop());

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
