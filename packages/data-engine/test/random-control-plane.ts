/**
 * Starts engines of a volume as the control plane does: surveys the copies, decides which are current, and takes a
 * new epoch.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CopyRecord, decideCurrentCopies } from '@holdfast/core/model/copy-record.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import type { Engine } from '../src/engine/engine.js';
import type { ReplicaControl } from '../src/protocol/commands.js';
import type { Cluster } from './engine-cluster.js';
import type { ReplicaNodes } from './replica-node.js';

/** Far above what is needed once all copies are reachable again. */
const ATTEMPTS_MAX = 20;
/** More often than in a host process, so that ticks fall between all steps of an opening engine. */
const TICK_MS = 7;

export class RandomControlPlane {
  private epoch = 0;
  /** The record in Postgres. */
  private known: CopyRecord;
  /** A separate generator, because concurrent calls draw from it in no fixed order. */
  private readonly delays: SeededRandom;

  constructor(
    seed: number,
    private readonly nodes: ReplicaNodes,
    private readonly cluster: Cluster,
  ) {
    this.delays = new SeededRandom(-seed);
    // The cast: ids made by the cluster are well-formed.
    this.known = cluster.record as unknown as CopyRecord;
  }

  /** @returns the new engine, and the copies that it was given as current */
  async attach(sizeBytes: number): Promise<{ engine: Engine; current: readonly string[] }> {
    for (let attempt = 0; ; attempt += 1) {
      this.epoch += 1;
      const decision = decideCurrentCopies({ known: this.known, found: await this.survey() });
      if (decision.kind === 'go') {
        const { record, current } = decision;
        const engine = await this.start(sizeBytes, record, current).catch((error: unknown) => {
          if (attempt > ATTEMPTS_MAX) throw error;
        });
        if (engine !== undefined) return { engine, current };
      }
      if (attempt > ATTEMPTS_MAX) throw new Error(`no engine can be started: ${JSON.stringify(decision)}`);
      // An operator would bring the missing copies back.
      for (const { node } of this.cluster.copies) node.reconnect();
    }
  }

  private async survey(): Promise<Map<ReplicaId, CopyRecord>> {
    const found = new Map<ReplicaId, CopyRecord>();
    for (const { address } of this.cluster.copies) {
      const control = this.nodes.connectControl(address);
      const answer = await control.command('open', { epoch: this.epoch }).catch(() => undefined);
      // The casts: the ids are those that the cluster has made.
      if (answer?.record) found.set(address.replicaId as ReplicaId, answer.record as unknown as CopyRecord);
    }
    return found;
  }

  private start(sizeBytes: number, record: CopyRecord, current: readonly string[]): Promise<Engine> {
    const { epoch } = this;
    return this.cluster.start(epoch, {
      ticksEveryMs: TICK_MS,
      connectControl: (address) => this.slowly(this.nodes.connectControl(address)),
      record,
      sizeBytes,
      replicas: this.cluster.copies
        .map(({ address }) => address)
        .filter(({ replicaId }) => current.includes(replicaId)),
      confirmRecord: async (next) => {
        await sleep(this.delays.below(30));
        if (this.epoch !== epoch) {
          throw new StorageFault('engine.stale_epoch', { publicMessage: 'a newer engine was started' });
        }
        this.known = next;
      },
    });
  }

  /** Delays some records, so that time passes between a loss and its record. */
  private slowly(control: ReplicaControl): ReplicaControl {
    return {
      command: async (name, ask) => {
        if (name === 'record' && this.delays.chance(2)) await sleep(this.delays.below(40));
        return control.command(name, ask);
      },
    };
  }
}
