/**
 * Entry of an engine host: a process that runs some of the node's engines. If it dies, the agent reports them as
 * stopped, and the control plane attaches their volumes again.
 */

import type { EngineAsk, EngineCommandName } from '@holdfast/core/model/engine-commands.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { planLayers } from '@holdfast/core/rebuild/plan-layers.js';
import { Engine } from '@holdfast/data-engine/engine/engine.js';
import { runEngineCommand } from '@holdfast/data-engine/engine/engine-commands.js';
import { chooseTls } from '@holdfast/data-engine/nbd/client-tls.js';
import { readerSecret } from '@holdfast/identity/copy-secret.js';
import { connectByHttp } from '../http-replica-control.js';
import { tlsBetweenNodes } from './data-tls.js';
import { runAsHost } from './host-process.js';
import type { AgentMethods, EngineHostMethods } from './host-protocol.js';
import { IpcPeer } from './ipc-peer.js';

/** Interval of the one timer that checks all copies of all engines for silence. */
const TICK_MS = 250;

chooseTls(tlsBetweenNodes(process.env));
const engines = new Map<string, Engine>();
const peer = new IpcPeer<AgentMethods, EngineHostMethods>(process);
/** Volumes whose report is due at the end of this turn of the event loop, so that many changes make one report. */
const changed = new Set<string>();

setInterval(() => {
  const nowMs = performance.now();
  for (const engine of engines.values()) engine.tick(nowMs);
}, TICK_MS);

function find(volumeId: string): Engine {
  const engine = engines.get(volumeId);
  if (engine === undefined) {
    throw new StorageFault('engine.not_found', { publicMessage: 'no engine of this volume runs here' });
  }
  return engine;
}

function noteChange(volumeId: string): void {
  if (changed.size === 0) setImmediate(sendChanges);
  changed.add(volumeId);
}

function sendChanges(): void {
  const volumeIds = [...changed];
  changed.clear();
  for (const volumeId of volumeIds) {
    const engine = engines.get(volumeId);
    if (engine === undefined) continue;
    // A report that can't be sent does no harm: without the channel this process ends.
    peer.call('engine-changed', { report: engine.report() }).catch(() => undefined);
  }
}

async function stopOne(volumeId: string): Promise<void> {
  const engine = engines.get(volumeId);
  await engine?.stop();
  if (engines.get(volumeId) === engine) engines.delete(volumeId);
}

peer.handle('start', async ({ volumeId, engine: spec }) => {
  const engine = new Engine(
    { ...spec, volumeId },
    {
      connectControl: connectByHttp,
      planLayers,
      lendSecret: readerSecret,
      confirmRecord: async (record) => {
        await peer.call('confirm-record', { volumeId, record, grantId: spec.grantId });
      },
      onChange: () => noteChange(volumeId),
    },
  );
  // Registered before it is open, so that a stop finds it also while it waits for a copy or for the control plane.
  engines.set(volumeId, engine);
  try {
    await engine.open();
  } catch (error) {
    if (engines.get(volumeId) === engine) engines.delete(volumeId);
    throw error;
  }
  return engine.report();
});
peer.handle('stop', async ({ volumeId }) => {
  await stopOne(volumeId);
  return null;
});
peer.handle('fence', async ({ volumeId }) => {
  engines
    .get(volumeId)
    ?.fence(new StorageFault('engine.stale_epoch', { publicMessage: 'a newer engine has taken over' }));
  engines.delete(volumeId);
  return null;
});
peer.handle('stop-all', async () => {
  await Promise.all([...engines.keys()].map(stopOne));
  return null;
});
peer.handle('command', async ({ volumeId, name, ask }) => {
  const engine = find(volumeId);
  // The cast: the agent has checked the ask by the command's schema.
  const reply = await runEngineCommand(engine, name, ask as EngineAsk<EngineCommandName>);
  return { reply, sizeBytes: engine.device.sizeBytes };
});
peer.handle('report', async ({ volumeId }) => find(volumeId).report());
peer.handle('connection', async ({ volumeId, negotiated, rest }, socket) => {
  // The client may have gone while its socket was on the way here.
  if (socket !== undefined) find(volumeId).serve(socket, negotiated, Buffer.from(rest, 'base64'));
  return null;
});

runAsHost(async () => {
  await Promise.all([...engines.keys()].map(stopOne));
});
