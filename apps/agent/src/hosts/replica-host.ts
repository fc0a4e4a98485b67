/**
 * Entry of a replica host: a process that holds some of the node's copies open. If it dies, their engines drop these
 * copies, and they are rebuilt.
 */
import { chooseTls } from '@holdfast/data-engine/nbd/client-tls.js';
import type { Answer, Ask, CommandName } from '@holdfast/data-engine/protocol/commands.js';
import { ReplicaService } from '@holdfast/data-engine/replica-server/replica-service.js';
import { admitsTo } from '../copy-access.js';
import { connectByHttp } from '../http-replica-control.js';
import { tlsBetweenNodes } from './data-tls.js';
import { runAsHost } from './host-process.js';
import type { NoMethods, ReplicaHostMethods } from './host-protocol.js';
import { IpcPeer } from './ipc-peer.js';

chooseTls(tlsBetweenNodes(process.env));
const service = new ReplicaService(connectByHttp, { admits: admitsTo });
const peer = new IpcPeer<NoMethods, ReplicaHostMethods>(process);

peer.handle('open', async ({ diskPath, replicaId }) => {
  await service.open(diskPath, replicaId);
  return null;
});
peer.handle('command', ({ replicaId, name, ask }): Promise<Answer<CommandName>> => {
  // The cast: the agent has checked the ask by the command's schema.
  return service.command(replicaId, name, ask as Ask<CommandName>);
});
peer.handle('checksum', ({ replicaId }) => service.checksum(replicaId));
peer.handle('close', async ({ replicaId }) => {
  await service.close(replicaId);
  return null;
});
peer.handle('close-all', async ({ graceMs }) => {
  await service.closeAll(graceMs);
  return null;
});
peer.handle('reports', () => service.reports());
peer.handle('connection', async ({ negotiated, rest }, socket) => {
  // The client may have gone while its socket was on the way here.
  if (socket !== undefined) await service.accept(socket, negotiated, Buffer.from(rest, 'base64'));
  return null;
});

runAsHost(() => service.closeAll(0));
