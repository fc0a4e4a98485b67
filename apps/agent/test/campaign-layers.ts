/**
 * Layer changes of the SIGKILL campaign: snapshots are taken, removed and purged while processes are killed, and every
 * acknowledged one must be there afterwards.
 */
import crypto from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineCommandName, VolumeLayers } from '@holdfast/core/model/engine-commands.js';
import { asId, type SnapshotId } from '@holdfast/core/model/ids.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import type { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import type { AgentProcess } from './agents.js';

const SNAPSHOTS_MAX = 4;
/** Pause between two changes: a snapshot stops writes for a moment. */
const PAUSE_MS = 15;
/** Refusals after which the change is asked for again: layers change one at a time, and not beside a rebuild. */
const ASK_AGAIN = new Set(['engine.busy']);

/** The engine that takes the changes now: its agent, volume and epoch. */
type Home = { agent: AgentProcess; volumeId: string; epoch: number };

export class CampaignLayers {
  /** Snapshots that were acknowledged and whose removal was not asked for. */
  private readonly kept = new Set<SnapshotId>();
  taken = 0;
  purges = 0;

  constructor(
    private readonly random: SeededRandom,
    private readonly home: () => Home,
  ) {}

  /** Changes layers until told to stop. @throws Error when the engine refuses a lawful change */
  async disturb(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      await sleep(this.random.below(PAUSE_MS));
      if (this.random.chance(3)) await this.purge();
      else if (this.kept.size < SNAPSHOTS_MAX && this.random.chance(2)) await this.take();
      else await this.remove();
    }
  }

  /**
   * Checks that every acknowledged snapshot is there. What layers hold is not compared: after a crash, copies that read
   * the same may hold a block in different layers.
   */
  async compare(): Promise<void> {
    const { layers } = await this.idle();
    const listed = new Set(layers.map(({ id }) => id));
    // Removes snapshots whose answer was lost, or they would become more with each kill.
    for (const { id, origin, removed } of layers)
      if (origin === 'user' && !removed && !this.kept.has(id))
        await this.ask('remove-snapshot', { snapshotId: id });
    const gone = [...this.kept].filter((id) => !listed.has(id));
    if (gone.length > 0) throw new Error(`snapshots that were taken are gone: ${gone}`);
  }

  private async take(): Promise<void> {
    const id = asId<SnapshotId>(crypto.randomUUID());
    const snapshot = { id, name: id, origin: 'user', createdAt: new Date().toISOString() };
    if (!(await this.ask('take-snapshot', { snapshot }))) return;
    this.kept.add(id);
    this.taken += 1;
  }

  private async remove(): Promise<void> {
    const [snapshotId] = this.kept;
    if (snapshotId === undefined) return;
    // From here on the snapshot may be gone, whatever the answer is and whether one comes.
    this.kept.delete(snapshotId);
    await this.ask('remove-snapshot', { snapshotId });
  }

  private async purge(): Promise<void> {
    if (await this.ask('purge', {})) this.purges += 1;
  }

  /** @returns true for a change that is done; for a purge, that has begun */
  private async ask(name: EngineCommandName, ask: object): Promise<boolean> {
    const { agent, volumeId, epoch } = this.home();
    const { status, body } = await agent.command(volumeId, name, { epoch, ...ask });
    if (status === 200) return true;
    if (ASK_AGAIN.has(String(body.code))) return false;
    throw new Error(`${name} ${JSON.stringify(ask)} is refused: ${JSON.stringify(body)}`);
  }

  /** @returns the layers, once no task changes them */
  private idle(): Promise<VolumeLayers> {
    const { agent, volumeId, epoch } = this.home();
    return eventually(
      'an engine that changes no layers',
      () => agent.layers(volumeId, epoch),
      ({ busy }) => busy === '',
    );
  }
}
