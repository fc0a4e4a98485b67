import type net from 'node:net';
import type { NbdExport } from '../src/nbd/export.js';
import { NbdServer, serveExport } from '../src/nbd/server.js';

export type ServedExport = { readonly port: number; readonly stop: () => Promise<void> };

/** Serves a device over NBD on a port of its own, under any name that `isName` accepts. */
export async function serveOnPort(
  device: NbdExport,
  {
    isName = () => true,
    ...limits
  }: { isName?: (name: string) => boolean; handshakeTimeoutMs?: number } = {},
): Promise<ServedExport> {
  const sockets = new Set<net.Socket>();
  const server = new NbdServer({
    directory: { describe: (name) => (isName(name) ? device : undefined) },
    accept: (socket, negotiated, rest) => {
      sockets.add(socket);
      serveExport(socket, negotiated, rest, device);
    },
    ...limits,
  });
  const { port } = await server.listen('127.0.0.1', 0);
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    await server.close();
  };
  return { port, stop };
}
