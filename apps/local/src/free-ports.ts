import net from 'node:net';

/**
 * Checks that no other process uses the stack's ports, because a service would otherwise fail again and again.
 *
 * @throws Error that names the ports and the way out
 */
export async function requireFreePorts(host: string, ports: readonly number[]): Promise<void> {
  const taken: number[] = [];
  for (const port of ports) if (!(await isFree(host, port))) taken.push(port);
  if (taken.length === 0) return;
  const which = taken.length === 1 ? `port ${taken[0]} is` : `ports ${taken.join(', ')} are`;
  throw new Error(`${which} in use by something else; choose another block of 40 with HOLDFAST_PORT_BASE`);
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
