import { once } from 'node:events';
import net from 'node:net';

/** The kernel may give the same port again before its user has taken it. */
const given = new Set<number>();

/**
 * A free port, for a server that can't be told to choose one itself. Asked of the kernel, and never computed from
 * another: servers get odd ports and outgoing connections even ones as long as there are any, so that the neighbour of
 * a free port may well be in use.
 */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the port has no number');
  if (given.has(address.port)) return freePort();
  given.add(address.port);
  return address.port;
}
