/**
 * Entry of a TLS host: a process that decrypts users' connections. It knows neither export names nor volumes: the plain
 * bytes go to the agent's plaintext socket, and from there to the process that owns the export. If the host dies, its connections
 * end, and clients that connect again get another host.
 */
import { Certificates } from '@holdfast/data-engine/nbd/certificates.js';
import { carryTunnel } from '@holdfast/data-engine/nbd/tls-tunnel.js';
import { tlsOfEnvironment } from '../tls-environment.js';
import { runAsHost } from './host-process.js';
import type { NoMethods, TlsHostMethods } from './host-protocol.js';
import { IpcPeer } from './ipc-peer.js';

const config = tlsOfEnvironment(process.env);
if (config.mode === 'off') throw new Error('a TLS host was started without TLS');
const certificates = new Certificates(config.files);
const peer = new IpcPeer<NoMethods, TlsHostMethods>(process);

peer.handle('tunnel', async ({ noZeroes, plaintextPath }, socket) => {
  // The client may have gone while its socket was on the way here.
  if (socket === undefined) return null;
  try {
    await carryTunnel(socket, { identity: await certificates.current(), noZeroes, plaintextPath });
  } finally {
    socket.destroy();
  }
  return null;
});

runAsHost(async () => undefined);
