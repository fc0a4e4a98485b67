/** Steps by chance: every action of users and every fault, each with its share. */
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { DRAIN_POLICIES } from '@holdfast/core/model/node-drain.js';
import type { StepName } from '@holdfast/scenario/steps.js';
import type { SeededRandom } from '../seeded-random.js';

type Names = {
  readonly nodes: readonly string[];
  readonly disks: readonly string[];
  readonly volumes: readonly string[];
};
/** What runs by the clock: expressions to choose from. */
export type Crons = {
  readonly integrityChecks: readonly [string, string];
  readonly snapshots: readonly [string, string, string];
};
type TakenSnapshot = { readonly volume: string; readonly snapshot: string };
type MadeStep = Partial<Record<StepName, unknown>>;
type Maker = (chance: Chance) => MadeStep;

/** What makers draw from. */
class Chance {
  constructor(
    readonly random: SeededRandom,
    private readonly names: Names,
    /** Of the step in its run: names that are to be new end in it. */
    readonly index: number,
    /** Snapshots that earlier steps ask for. */
    private readonly taken: TakenSnapshot[],
    readonly crons: Crons,
  ) {}

  node(): string {
    return this.random.pick(this.names.nodes) ?? '';
  }
  disk(): string {
    return this.random.pick(this.names.disks) ?? '';
  }
  volume(): string {
    return this.random.pick(this.names.volumes) ?? '';
  }
  copy(): { volume: string; on: string } {
    return { volume: this.volume(), on: this.node() };
  }
  newSnapshot(): TakenSnapshot {
    const made = { volume: this.volume(), snapshot: `s${this.random.below(4)}` };
    this.taken.push(made);
    return made;
  }
  /** A step about a snapshot that an earlier one asked for; while there is none, it asks for one. */
  ofSnapshot(make: (snapshot: TakenSnapshot) => MadeStep): MadeStep {
    const snapshot = this.random.pick(this.taken);
    return snapshot === undefined ? { takeSnapshot: this.newSnapshot() } : make(snapshot);
  }
  flag(): boolean {
    return this.random.chance(0.5);
  }
}

/** Switches of the cluster that a user turns, with the values that they take. */
const SETTINGS: Readonly<Record<string, readonly (boolean | number | string)[]>> = {
  'concurrent-replica-rebuild-per-node-limit': [0, 1, 2, 5],
  'concurrent-rebuild-source-per-node-limit': [1, 2, 5],
  'concurrent-rebuild-per-cluster-limit': [0, 1, 2, 100],
  'snapshot-heavy-task-concurrent-limit': [0, 1, 3],
  'replica-replenishment-wait-interval': [0, 30, 600],
  'replica-rebuild-concurrent-sync-limit': [1, 2, 3],
  'auto-cleanup-system-generated-snapshot': [true, false],
  'disable-snapshot-purge': [true, false],
  'offline-replica-rebuilding': [true, false],
  'allow-volume-creation-with-degraded-availability': [true, false],
  'disable-scheduling-on-cordoned-node': [true, false],
  'detach-manually-attached-volumes-when-cordoned': [true, false],
  'orphan-resource-auto-deletion': ['', 'replica-data'],
  'replica-auto-balance': ['disabled', 'least-effort', 'best-effort'],
  'replica-auto-balance-cool-down': [0, 30],
  'replica-auto-balance-node-settling-time': [0, 600],
  'replica-relocate-on-selector-change': [true, false],
  'volume-failover-delay': [0, 30, 300],
  'storage-over-provisioning-percentage': [10, 100, 200],
  'snapshot-data-integrity': ['disabled', 'enabled', 'fast-check'],
  'snapshot-data-integrity-immediate-check-after-snapshot-creation': [true, false],
};

const FAULTS: Readonly<Record<string, readonly [share: number, Maker]>> = {
  nodeDown: [6, (chance) => ({ nodeDown: chance.node() })],
  nodeUp: [8, (chance) => ({ nodeUp: chance.node() })],
  cutNode: [3, (chance) => ({ cutNode: chance.node() })],
  joinNode: [5, (chance) => ({ joinNode: chance.node() })],
  allNodesDown: [0.5, () => ({ allNodesDown: true })],
  diskDown: [2, (chance) => ({ diskDown: chance.disk() })],
  diskUp: [3, (chance) => ({ diskUp: chance.disk() })],
  fillDisk: [
    1,
    (chance) => ({ fillDisk: { disk: chance.disk(), available: chance.random.below(100) * GIB } }),
  ],
  workerDown: [1, (chance) => ({ workerDown: 1 + chance.random.below(20) })],
  moveDisk: [1, (chance) => ({ moveDisk: { disk: chance.disk(), to: chance.node() } })],
  loseCopy: [1.5, (chance) => ({ loseCopy: { ...chance.copy(), unlessLast: true } })],
  damageCopy: [
    3,
    (chance) => chance.ofSnapshot((snapshot) => ({ damageCopy: { ...snapshot, on: chance.node() } })),
  ],
  failRebuilds: [2, (chance) => ({ failRebuilds: { ...chance.copy(), times: 1 + chance.random.below(3) } })],
};

const NODES: Readonly<Record<string, readonly [share: number, Maker]>> = {
  cordon: [2, (chance) => ({ cordon: chance.node() })],
  uncordon: [3, (chance) => ({ uncordon: chance.node() })],
  drain: [2, (chance) => ({ drain: { node: chance.node(), policy: chance.random.pick(DRAIN_POLICIES) } })],
  cancelDrain: [1, (chance) => ({ cancelDrain: chance.node() })],
  startMaintenance: [
    1,
    (chance) => ({ startMaintenance: { node: chance.node(), for: 30 + chance.random.below(900) } }),
  ],
  endMaintenance: [1, (chance) => ({ endMaintenance: chance.node() })],
  closeNode: [1, (chance) => ({ patchNode: { node: chance.node(), allowScheduling: false } })],
  openNode: [
    3,
    (chance) => ({ patchNode: { node: chance.node(), allowScheduling: true, evictionRequested: false } }),
  ],
  emptyNode: [
    2,
    (chance) => ({ patchNode: { node: chance.node(), allowScheduling: false, evictionRequested: true } }),
  ],
  tagNode: [1, (chance) => ({ patchNode: { node: chance.node(), tags: chance.flag() ? ['fast'] : [] } })],
  relabelNode: [
    0.5,
    (chance) => ({ patchNode: { node: chance.node(), zone: chance.random.pick(['z0', 'z1', 'z2']) } }),
  ],
  addDisk: [
    0.5,
    (chance) => ({ addDisk: { node: chance.node(), name: `more-${chance.index}`, size: 50 * GIB } }),
  ],
  addNode: [
    0.3,
    (chance) => ({ addNode: { name: `new-${chance.index}`, zone: `z${chance.random.below(3)}` } }),
  ],
  removeOrphan: [1, (chance) => ({ removeOrphan: chance.node() })],
  openDisk: [
    2,
    (chance) => ({ patchDisk: { disk: chance.disk(), allowScheduling: true, evictionRequested: false } }),
  ],
  emptyDisk: [
    1,
    (chance) => ({ patchDisk: { disk: chance.disk(), allowScheduling: false, evictionRequested: true } }),
  ],
  set: [
    3,
    ({ random }) => {
      const name = random.pick(Object.keys(SETTINGS)) ?? '';
      return { set: { [name]: random.pick(SETTINGS[name] ?? []) } };
    },
  ],
};

const VOLUMES: Readonly<Record<string, readonly [share: number, Maker]>> = {
  write: [10, (chance) => ({ write: chance.volume() })],
  attach: [
    9,
    (chance) => ({ attach: { volume: chance.volume(), ...(chance.flag() ? { node: chance.node() } : {}) } }),
  ],
  detach: [3, (chance) => ({ detach: { volume: chance.volume(), force: chance.flag() } })],
  deleteReplica: [3, (chance) => ({ deleteReplica: chance.copy() })],
  moveReplica: [2, (chance) => ({ moveReplica: { ...chance.copy(), to: chance.node() } })],
  takeSnapshot: [4, (chance) => ({ takeSnapshot: chance.newSnapshot() })],
  deleteSnapshot: [3, (chance) => chance.ofSnapshot((snapshot) => ({ deleteSnapshot: snapshot }))],
  recurringSnapshot: [
    1,
    (chance) => ({
      recurringSnapshot: {
        volume: chance.volume(),
        name: 'recurring',
        cron: chance.random.pick(chance.crons.snapshots),
        retain: 2,
      },
    }),
  ],
  cloneVolume: [
    3,
    (chance) =>
      chance.ofSnapshot((snapshot) => ({ cloneVolume: { ...snapshot, name: `clone-${chance.index}` } })),
  ],
  deleteVolume: [0.3, (chance) => ({ deleteVolume: chance.volume() })],
  purge: [2, (chance) => ({ purge: chance.volume() })],
  revert: [1, (chance) => chance.ofSnapshot((snapshot) => ({ revert: snapshot }))],
  expand: [
    1,
    (chance) => ({
      expand: {
        volume: chance.volume(),
        size: (5 + chance.random.below(40)) * GIB + (1 + chance.index) * MIB,
      },
    }),
  ],
  countReplicas: [
    2,
    (chance) => ({ patchVolume: { volume: chance.volume(), numberOfReplicas: 1 + chance.random.below(4) } }),
  ],
  override: [
    1,
    (chance) => ({
      patchVolume: {
        volume: chance.volume(),
        offlineRebuilding: chance.random.pick(['ignored', 'enabled', 'disabled']),
      },
    }),
  ],
  balance: [
    1,
    (chance) => ({
      patchVolume: {
        volume: chance.volume(),
        replicaAutoBalance: chance.random.pick(['ignored', 'least-effort', 'best-effort']),
        dataLocality: chance.random.pick(['disabled', 'best-effort']),
      },
    }),
  ],
  failover: [
    1,
    (chance) => ({
      patchVolume: { volume: chance.volume(), failoverDelay: chance.random.pick([0, 20, 120, -1]) },
    }),
  ],
  integrity: [
    1,
    (chance) => ({
      patchVolume: {
        volume: chance.volume(),
        snapshotDataIntegrity: chance.random.pick(['ignored', 'disabled', 'enabled']),
      },
    }),
  ],
  cancelRebuild: [1, (chance) => ({ cancelRebuild: chance.volume() })],
  pauseRebuild: [1, (chance) => ({ pauseRebuild: chance.volume() })],
  resumeRebuild: [2, (chance) => ({ resumeRebuild: chance.volume() })],
  verify: [0.5, (chance) => ({ verify: chance.volume() })],
  salvage: [1, (chance) => ({ salvage: chance.volume() })],
};

const MAKERS = Object.values({ ...FAULTS, ...NODES, ...VOLUMES });
const SHARES = MAKERS.reduce((sum, [share]) => sum + share, 0);

/** Steps of one run, one after the other: a later one may be about what an earlier one makes. */
export class RandomSteps {
  private readonly taken: TakenSnapshot[] = [];
  private count = 0;

  constructor(
    private readonly random: SeededRandom,
    private readonly names: Names,
    private readonly crons: Crons,
  ) {}

  next(): MadeStep {
    let left = this.random.next() * SHARES;
    const index = this.count++;
    for (const [share, make] of MAKERS) {
      left -= share;
      if (left < 0) return make(new Chance(this.random, this.names, index, this.taken, this.crons));
    }
    return { write: this.names.volumes[0] ?? '' };
  }
}
