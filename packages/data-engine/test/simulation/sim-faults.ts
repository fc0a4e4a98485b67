/**
 * Fault injection of a run: processes die or are paused, machines lose power, links are cut, disks fail, fill up or
 * are restored to an earlier state, control calls are lost, late or duplicated, the database loses commits; and
 * layers come and go meanwhile.
 */
import { databaseFaults } from './faults/database-faults.js';
import { diskFaults } from './faults/disk-faults.js';
import { FaultStage } from './faults/fault-stage.js';
import { layerWork } from './faults/layer-work.js';
import { networkFaults } from './faults/network-faults.js';
import { powerFaults } from './faults/power-faults.js';
import { processFaults } from './faults/process-faults.js';
import type { SimControl } from './sim-control.js';
import type { SimNet } from './sim-net.js';
import type { SimNode } from './sim-node.js';
import type { World } from './world.js';

/** Weights: how often each kind occurs, relative to the others. */
const FAULTS = {
  killHost: 4,
  killEngine: 6,
  powerCut: 3,
  blackout: 3,
  blackoutWhenOwed: 2,
  blackoutInPurge: 2,
  blackoutAtPunch: 1,
  dieAtCommand: 3,
  cutAtClearing: 2,
  slowTakeover: 2,
  isolateEngine: 3,
  fullInRebuild: 2,
  commandStorm: 3,
  doubleInRebuild: 2,
  replaceLate: 2,
  holdCommand: 2,
  cutLink: 6,
  cutNode: 4,
  stopHost: 2,
  stopEngine: 2,
  syncFails: 3,
  writebackFails: 3,
  mapHole: 1,
  writeFails: 1,
  readFails: 1,
  fillDisk: 3,
  slowDisk: 2,
  mischief: 4,
  loseCommits: 2,
  loseTakeover: 1,
  rollBack: 2,
  snapshot: 3,
  purge: 4,
};
type Fault = keyof typeof FAULTS;
/** User actions, never left out: without layers there is nothing to merge. */
const OF_USERS: readonly Fault[] = ['snapshot', 'purge'];

/** Maximum pause between two faults, one of these per run. */
const PAUSES_MS = [600, 3_000, 9_000] as const;

export class SimFaults {
  /** Called for an answered flush that began at this time. */
  readonly flushed: (begunAtMs: number) => void;
  private readonly stage: FaultStage;
  private readonly faults: Record<Fault, () => void>;
  private readonly weights: Record<Fault, number>;

  constructor(
    private readonly world: World,
    net: SimNet,
    nodes: readonly SimNode[],
    control: SimControl,
    private readonly limits: { readonly faultsMax: number; readonly only: readonly string[] },
  ) {
    this.weights = someOf(FAULTS, world, limits.only);
    this.stage = new FaultStage(world, net, nodes, control);
    const work = layerWork(this.stage);
    const power = powerFaults(this.stage, work);
    this.flushed = power.flushed;
    for (const { disk } of nodes) disk.onPunch = power.punched;
    net.onCommand = (name, node) => {
      if (name === 'clear-intent') power.cleared();
      this.stage.carriedOut(name, node);
    };
    this.faults = {
      ...work,
      ...power.faults,
      ...processFaults(this.stage),
      ...networkFaults(this.stage, work),
      ...diskFaults(this.stage),
      ...databaseFaults(this.stage),
    };
  }

  /** Time of the last fault. */
  get lastMs(): number {
    return this.stage.lastMs;
  }

  /** Users send no requests until then. */
  get quietUntilMs(): number {
    return this.stage.quietUntilMs;
  }

  /** One after the other, until the run has had enough of them. */
  async disturb(): Promise<void> {
    const { random } = this.world;
    const count = Math.min(this.limits.faultsMax, 3 + random.below(14));
    const pauseMs = random.pick(PAUSES_MS);
    for (let done = 0; done < count; done += 1) {
      await this.world.sleep(this.world.duration(20, pauseMs));
      const name = random.weighted(this.weights);
      this.world.note(name);
      if (!OF_USERS.includes(name)) this.stage.lastMs = this.world.nowMs;
      this.faults[name]();
    }
    await this.world.sleep(this.world.duration(100, 20_000));
  }

  /** Ends the injection; the caller heals whatever is still broken. */
  end(): void {
    this.stage.hasEnded = true;
  }
}

/** Limits a run to some kinds of faults: runs that repeat one kind are as likely as runs with a few of each. */
function someOf(
  weights: Record<Fault, number>,
  world: World,
  only: readonly string[],
): Record<Fault, number> {
  // The cast: the keys of a record of Fault are faults.
  const names = Object.keys(weights) as Fault[];
  const unknown = only.find((name) => !names.some((known) => known === name));
  if (unknown !== undefined)
    throw new RangeError(`there is no fault ${unknown}; there are ${names.join(', ')}`);
  if (only.length === 0 && world.random.chance(4)) return weights;
  const isKept = (name: Fault) =>
    only.length > 0 ? only.includes(name) : OF_USERS.includes(name) || world.random.chance(3);
  const kept = names.filter(isKept);
  return Object.fromEntries(names.map((name) => [name, kept.includes(name) ? weights[name] : 0])) as Record<
    Fault,
    number
  >;
}
