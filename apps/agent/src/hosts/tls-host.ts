/**
 * Entry of a TLS host: a process that decrypts connections of users and of other nodes. It knows neither export names nor
 * volumes: the plain bytes go to a plaintext socket of the agent, and from there to the process that owns the export. If the
 * host dies, its connections end, and clients that connect again get another host.
 */
import { Certificates } from '@holdfast/data-engine/nbd/certificates.js';
import { carryTunnel, type TunnelEnd } from '@holdfast/data-engine/nbd/tls-tunnel.js';
import { nodeDnsName } from '@holdfast/identity/names.js';
import { OwnIdentity } from '../identity/own-identity.js';
import { tlsOfEnvironment } from '../tls-environment.js';
import { nodesEnd } from './data-tls.js';
import { runAsHost } from './host-process.js';
import type { NoMethods, TlsHostMethods } from './host-protocol.js';
import { IpcPeer } from './ipc-peer.js';

const config = tlsOfEnvironment(process.env);
const certificates = config.mode === 'off' ? undefined : new Certificates(config.files);
const own = new OwnIdentity(process.env.HOLDFAST_STATE_DIR ?? '');
const peer = new IpcPeer<NoMethods, TlsHostMethods>(process);

peer.handle('tunnel', async ({ noZeroes, usersPath, nodesPath }, socket) => {
  // The client may have gone while its socket was on the way here.
  if (socket === undefined) return null;
  try {
    const users = usersPath === undefined ? undefined : await usersEnd(usersPath);
    // Before it has joined, a node holds no copies that others could ask for.
    const identity = nodesPath === undefined ? undefined : await own.current().catch(() => undefined);
    await carryTunnel(socket, {
      noZeroes,
      endFor: (serverName) =>
        identity !== undefined && nodesPath !== undefined && serverName === nodeDnsName(identity.nodeId)
          ? nodesEnd(identity, nodesPath)
          : users,
    });
  } finally {
    socket.destroy();
  }
  return null;
});

async function usersEnd(path: string): Promise<TunnelEnd | undefined> {
  if (certificates === undefined) return undefined;
  return { identity: await certificates.current(), admit: () => ({ path, peer: '' }) };
}

runAsHost(async () => undefined);
