import { once } from 'node:events';
import net from 'node:net';

/**
 * Below the ports that the kernel assigns to outgoing connections and to servers without one: 32768 and up on Linux. A free port here
 * stays free, while one that the kernel has assigned may be taken before its user starts.
 */
const PORTS = { first: 10_240, count: 22_000 };
/** Processes of tests that run side by side begin so far from each other. */
const APART = 701;

let given = 0;

/** A free port, for a server that can't choose one itself. No port is given twice by one process. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS.count; tries += 1) {
    const port = PORTS.first + ((process.pid * APART + given) % PORTS.count);
    given += 1;
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

async function isFree(port: number): Promise<boolean> {
  const server = net.createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return true;
  } catch {
    return false;
  }
}
