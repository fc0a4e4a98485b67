import net from 'node:net';
import { freePort } from '@holdfast/testkit/free-port.js';
import { afterEach, expect, test } from '@jest/globals';
import { requireFreePorts } from './free-ports.js';

const HOST = '127.0.0.1';
let server: net.Server | undefined;

afterEach(() => {
  server?.close();
});

test('free ports are fine', async () => {
  await expect(requireFreePorts(HOST, [await freePort()])).resolves.toBeUndefined();
});

test('a port that is taken is named, with the way out', async () => {
  const [taken, free] = [await freePort(), await freePort()];
  await new Promise<void>((resolve) => {
    server = net.createServer().listen(taken, HOST, resolve);
  });
  const refused = requireFreePorts(HOST, [taken, free]);
  await expect(refused).rejects.toThrow(`port ${taken} is in use`);
  await expect(refused).rejects.toThrow('HOLDFAST_PORT_BASE');
});
