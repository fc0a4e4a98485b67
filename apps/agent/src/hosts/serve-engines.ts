/**
 * The engines of one host process, and the agent's calls about them. If the process dies, the agent reports them as stopped,
 * and the control plane attaches their volumes again.
 */
import type { EngineCommandName, EngineRequest } from '@holdfast/core/model/engine-commands.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { planLayers } from '@holdfast/core/rebuild/plan-layers.js';
import { Engine } from '@holdfast/data-engine/engine/engine.js';
import { runEngineCommand } from '@holdfast/data-engine/engine/engine-commands.js';
import type { ConnectData } from '@holdfast/data-engine/nbd/data-link.js';
import { readerSecret } from '@holdfast/identity/copy-secret.js';
import { connectByHttp } from '../http-replica-control.js';
import type { AgentMethods, EngineHostMethods } from './host-protocol.js';
import type { IpcPeer } from './ipc-peer.js';

/** Interval of the one timer that checks all copies of all engines for silence. */
const TICK_MS = 250;

export class ServedEngines {
  private readonly engines = new Map<string, Engine>();
  /** Volumes whose report is due at the end of this turn of the event loop, so that many changes make one report. */
  private readonly changed = new Set<string>();
  private ticking: NodeJS.Timeout | undefined;

  /** @param connectData how engines reach the data of their copies; over NBD if it is not given */
  constructor(
    private readonly peer: IpcPeer<AgentMethods, EngineHostMethods>,
    private readonly connectData?: ConnectData,
  ) {
    peer.handle('start-engine', ({ volumeId, engine }) => this.start(volumeId, engine));
    peer.handle('stop-engine', async ({ volumeId }) => {
      await this.stop(volumeId);
      return null;
    });
    peer.handle('fence-engine', async ({ volumeId }) => {
      this.engines
        .get(volumeId)
        ?.fence(new StorageFault('engine.stale_epoch', { publicMessage: 'a newer engine has taken over' }));
      this.engines.delete(volumeId);
      return null;
    });
    peer.handle('stop-engines', async () => {
      await this.stopAll();
      return null;
    });
    peer.handle('engine-command', async ({ volumeId, name, ask }) => {
      const engine = this.find(volumeId);
      // The cast: the agent has checked the ask by the command's schema.
      const reply = await runEngineCommand(engine, name, ask as EngineRequest<EngineCommandName>);
      return { reply, sizeBytes: engine.device.sizeBytes };
    });
    peer.handle('engine-report', async ({ volumeId }) => this.find(volumeId).report());
    peer.handle('engine-connection', async ({ volumeId, negotiated, rest }, socket) => {
      // The client may have gone while its socket was on the way here.
      if (socket !== undefined) this.find(volumeId).serve(socket, negotiated, Buffer.from(rest, 'base64'));
      return null;
    });
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.engines.keys()].map((volumeId) => this.stop(volumeId)));
  }

  private async start(
    volumeId: EngineHostMethods['start-engine']['params']['volumeId'],
    spec: EngineHostMethods['start-engine']['params']['engine'],
  ): Promise<EngineHostMethods['start-engine']['result']> {
    this.ticking ??= setInterval(() => this.tick(), TICK_MS);
    const engine = new Engine(
      { ...spec, volumeId },
      {
        connectControl: connectByHttp,
        ...(this.connectData && { connectData: this.connectData }),
        planLayers,
        readerSecretOf: readerSecret,
        confirmRecord: async (record) => {
          await this.peer.call('confirm-record', { volumeId, record, grantId: spec.grantId });
        },
        onChange: () => this.noteChange(volumeId),
      },
    );
    // Registered before it is open, so that a stop finds it also while it waits for a copy or for the control plane.
    this.engines.set(volumeId, engine);
    try {
      await engine.open();
    } catch (error) {
      if (this.engines.get(volumeId) === engine) this.engines.delete(volumeId);
      throw error;
    }
    return engine.report();
  }

  private async stop(volumeId: string): Promise<void> {
    const engine = this.engines.get(volumeId);
    await engine?.stop();
    if (this.engines.get(volumeId) === engine) this.engines.delete(volumeId);
  }

  private tick(): void {
    const nowMs = performance.now();
    for (const engine of this.engines.values()) engine.tick(nowMs);
  }

  private find(volumeId: string): Engine {
    const engine = this.engines.get(volumeId);
    if (engine === undefined) {
      throw new StorageFault('engine.not_found', { publicMessage: 'no engine of this volume runs here' });
    }
    return engine;
  }

  private noteChange(volumeId: string): void {
    if (this.changed.size === 0) setImmediate(() => this.sendChanges());
    this.changed.add(volumeId);
  }

  private sendChanges(): void {
    const volumeIds = [...this.changed];
    this.changed.clear();
    for (const volumeId of volumeIds) {
      const engine = this.engines.get(volumeId);
      if (engine === undefined) continue;
      // A report that can't be sent does no harm: without the channel this process ends.
      this.peer.call('engine-changed', { report: engine.report() }).catch(() => undefined);
    }
  }
}
