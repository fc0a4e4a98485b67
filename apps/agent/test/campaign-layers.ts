/** Snapshots that are taken, removed and purged while processes are killed, and what must be true of them afterwards. */
import crypto from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type VolumeLayers, volumeLayersSchema } from '@holdfast/core/model/agent-protocol.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import type { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import type { AgentProcess } from './agents.js';

const SNAPSHOTS_MAX = 4;
/** Between two changes: a snapshot stops writes for a moment. */
const PAUSE_MS = 15;
/** One change at a time, and none beside a rebuild: whoever asks in between is told to ask again. */
const ASK_AGAIN = new Set(['engine.busy']);

/** The engine as it is asked now: where it runs, and as which. */
type Home = { agent: AgentProcess; volumeId: string; epoch: number };

export class CampaignLayers {
  /** Acknowledged, and nobody has asked for their removal. */
  private readonly kept = new Set<string>();
  taken = 0;
  purges = 0;

  constructor(
    private readonly random: SeededRandom,
    private readonly home: () => Home,
  ) {}

  /** Changes layers until told to stop. @throws Error when the engine refuses what it has to take */
  async disturb(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      await sleep(this.random.below(PAUSE_MS));
      if (this.random.chance(3)) await this.purge();
      else if (this.kept.size < SNAPSHOTS_MAX && this.random.chance(2)) await this.take();
      else await this.remove();
    }
  }

  /**
   * Every snapshot that was acknowledged is there. What their layers hold is not compared: after a crash copies may hold a block
   * in different layers and read the same.
   */
  async compare(): Promise<void> {
    const { layers } = await this.idle();
    const listed = new Set(layers.map(({ id }) => id));
    // Whose answer was lost; they would become ever more.
    for (const { id, origin, removed } of layers)
      if (origin === 'user' && !removed && !this.kept.has(id))
        await this.ask({ kind: 'remove', snapshotId: id });
    const gone = [...this.kept].filter((id) => !listed.has(id));
    if (gone.length > 0) throw new Error(`snapshots that were taken are gone: ${gone}`);
  }

  private async take(): Promise<void> {
    const id = crypto.randomUUID();
    const snapshot = { id, name: id, origin: 'user', createdAt: new Date().toISOString() };
    if (!(await this.ask({ kind: 'take', snapshot }))) return;
    this.kept.add(id);
    this.taken += 1;
  }

  private async remove(): Promise<void> {
    const [snapshotId] = this.kept;
    if (snapshotId === undefined) return;
    // Whatever the answer is, and whether one comes: from now on nobody may count on it.
    this.kept.delete(snapshotId);
    await this.ask({ kind: 'remove', snapshotId });
  }

  private async purge(): Promise<void> {
    if (await this.ask({ kind: 'purge' })) this.purges += 1;
  }

  /** @returns whether it is done, or for a purge begun */
  private async ask(command: object): Promise<boolean> {
    const { status, body } = await this.change(command);
    if (status === 200) return true;
    if (ASK_AGAIN.has(String(body.code))) return false;
    throw new Error(`${JSON.stringify(command)} is refused: ${JSON.stringify(body)}`);
  }

  private change(command: object) {
    const { agent, volumeId, epoch } = this.home();
    return agent.call('POST', `/v1/engines/${volumeId}/layers`, { epoch, ...command });
  }

  /** @returns the layers once nothing is being done to them */
  private idle(): Promise<VolumeLayers> {
    const { agent, volumeId, epoch } = this.home();
    return eventually(
      'an engine that changes no layers',
      async () => {
        const { body } = await agent.call('GET', `/v1/engines/${volumeId}/layers?epoch=${epoch}`);
        return volumeLayersSchema.parse(body);
      },
      ({ busy }) => busy === '',
      10_000,
    );
  }
}
