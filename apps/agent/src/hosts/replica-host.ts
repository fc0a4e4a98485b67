/**
 * Entry of a replica host: a process that holds copies of one disk open, and runs engines of their volumes beside them. If it
 * dies, engines elsewhere drop these copies, and they are rebuilt; its own engines are reported as stopped.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DISK_PACE } from '@holdfast/data-engine/disk/disk-pace.js';
import { chooseTls } from '@holdfast/data-engine/nbd/client-tls.js';
import { type ConnectData, connectByNbd } from '@holdfast/data-engine/nbd/data-link.js';
import type { Answer, Ask, CommandName } from '@holdfast/data-engine/protocol/commands.js';
import { ReplicaService } from '@holdfast/data-engine/replica-server/replica-service.js';
import { admitsTo } from '../copy-access.js';
import { connectByHttp } from '../http-replica-control.js';
import { tlsBetweenNodes } from './data-tls.js';
import { runAsHost } from './host-process.js';
import type { AgentMethods, ReplicaHostMethods } from './host-protocol.js';
import { IpcPeer } from './ipc-peer.js';
import { ServedEngines } from './serve-engines.js';

/** Part of the time to end in that engines get when the agent is gone; the copies need the rest for their flush. */
const ENGINES_MS_MAX = 1_000;

chooseTls(tlsBetweenNodes(process.env));
const service = new ReplicaService(connectByHttp, { admits: admitsTo });
const peer = new IpcPeer<AgentMethods, ReplicaHostMethods>(process);

/** An engine's way to a copy: a call if this process holds the copy, else NBD. */
const connectData: ConnectData = async (address, timeoutMs) => {
  const here = await service.connectHere(address.exportName);
  if (here !== undefined) return here;
  const link = await connectByNbd(address, timeoutMs);
  // With a copy elsewhere the engine continues when this process's disk hangs.
  link.onClose(DISK_PACE.beginIndependent());
  return link;
};
const engines = new ServedEngines(peer, connectData);

peer.handle('open', async ({ diskPath, replicaId }) => {
  await service.open(diskPath, replicaId);
  return null;
});
peer.handle('command', ({ replicaId, name, ask }): Promise<Answer<CommandName>> => {
  // The cast: the agent has checked the ask by the command's schema.
  return service.command(replicaId, name, ask as Ask<CommandName>);
});
peer.handle('checksum', ({ replicaId, bytesPerSecondMax }) => service.checksum(replicaId, bytesPerSecondMax));
peer.handle('close', async ({ replicaId }) => {
  await service.close(replicaId);
  return null;
});
peer.handle('close-all', async ({ graceMs }) => {
  await service.closeAll(graceMs);
  return null;
});
peer.handle('reports', () => service.reports());
peer.handle('metadata', ({ replicaId }) => service.metadata(replicaId));
peer.handle('connection', async ({ negotiated, rest }, socket) => {
  // The client may have gone while its socket was on the way here.
  if (socket !== undefined) await service.accept(socket, negotiated, Buffer.from(rest, 'base64'));
  return null;
});

runAsHost(async () => {
  await Promise.race([engines.stopAll(), sleep(ENGINES_MS_MAX)]);
  await service.closeAll(0);
});
