/** Random steps: every action of users and every fault, each with its share. */
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { Bug } from '@holdfast/core/model/faults.js';
import { DRAIN_POLICIES } from '@holdfast/core/model/node-drain.js';
import {
  followingValue,
  overrideBounds,
  overrideWords,
  VOLUME_OVERRIDES,
} from '@holdfast/core/model/volume-overrides.js';
import type { StepName } from '@holdfast/scenario/steps.js';
import type { SeededRandom } from '../seeded-random.js';

type Names = {
  readonly nodes: string[];
  readonly disks: string[];
  readonly volumes: string[];
};
/** Periodic settings: cron expressions to choose from. */
export type Crons = {
  readonly integrityChecks: readonly [string, string];
  readonly snapshots: readonly [string, string, string];
};
type TakenSnapshot = { readonly volume: string; readonly snapshot: string };
type MadeStep = Partial<Record<StepName, unknown>>;
type Maker = (chance: Chance) => MadeStep;

/** Pools from which the makers of steps draw. */
class Chance {
  constructor(
    readonly random: SeededRandom,
    /** Objects of the start, and those that earlier steps request. */
    readonly names: Names,
    /** Of the step in its run: names that are to be new end in it. */
    readonly index: number,
    /** Snapshots that earlier steps ask for. */
    private readonly taken: TakenSnapshot[],
    /** Steps that are to come later, in this order. */
    private readonly planned: MadeStep[],
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
  /** Either of both, as the place of a copy. */
  place(): string {
    return this.flag() ? this.node() : this.disk();
  }
  tags(tag: string): string[] {
    return this.flag() ? [tag] : [];
  }
  /** Later part of this step, which has to wait until the first part has had an effect. */
  plan(...steps: MadeStep[]): void {
    this.planned.push(...steps);
  }
  newSnapshot(): TakenSnapshot {
    const made = { volume: this.volume(), snapshot: `s${this.random.below(4)}` };
    this.taken.push(made);
    return made;
  }
  /** A step about a snapshot that an earlier one requested; if there is none, it requests one. */
  ofSnapshot(make: (snapshot: TakenSnapshot) => MadeStep): MadeStep {
    const snapshot = this.random.pick(this.taken);
    return snapshot === undefined ? { takeSnapshot: this.newSnapshot() } : make(snapshot);
  }
  flag(): boolean {
    return this.random.chance(0.5);
  }
}

/** Switches of the cluster that a user changes, with their values. */
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
  'storage-minimal-available-percentage': [0, 25, 60],
  'snapshot-data-integrity': ['disabled', 'enabled', 'fast-check', '{"v1":"disabled","v2":"enabled"}'],
  'snapshot-data-integrity-immediate-check-after-snapshot-creation': [true, false, '{"v1":true,"v2":false}'],
  'snapshot-data-integrity-cronjob': [
    '*/5 * * * *',
    '{"v1":"*/5 * * * *","v2":"0 0 */7 * *"}',
    '0 0 */7 * *',
  ],
  'replica-soft-anti-affinity': [true, false],
  'replica-zone-soft-anti-affinity': [true, false],
  'replica-disk-soft-anti-affinity': [true, false],
  'replica-disk-choice': ['spread', 'pack'],
  'balance-alpha': [0, 0.5, 1],
  'allow-empty-node-selector-volume': [true, false],
  'allow-empty-disk-selector-volume': [true, false],
  'replica-auto-balance-disk-pressure-percentage': [0, 50, 90],
  'replica-auto-balance-bytes-in-flight': [1, 100],
  'node-drain-policy': DRAIN_POLICIES,
  'fast-replica-rebuild-enabled': [true, false, '{"v1":true,"v2":false}'],
  'replica-rebuilding-bandwidth-limit': [0, 10, '{"v2":10}'],
  'rebuild-block-hash': ['sha512', 'blake3'],
  'stale-replica-timeout': [0, 1, 2880],
  'engine-replica-timeout': [8, 30, '{"v1":8,"v2":30}'],
  'agent-heartbeat-timeout': [5, 10, 60],
  'snapshot-max-count': [2, 10, 250],
  'snapshot-count-warning-threshold': [2, 100],
  'recurring-job-max-retention': [1, 100],
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
    1.5,
    (chance) => {
      const available = chance.random.pick([0, 1, 4096, MIB, chance.random.below(100) * GIB]) ?? 0;
      return { fillDisk: { disk: chance.disk(), available } };
    },
  ],
  twoNodesDown: [
    1.5,
    (chance) => {
      chance.plan({ nodeDown: chance.node() });
      return { nodeDown: chance.node() };
    },
  ],
  silenceAgent: [1.5, (chance) => ({ silenceAgent: chance.node() })],
  wakeAgent: [2, (chance) => ({ wakeAgent: chance.node() })],
  stopCopy: [2, (chance) => ({ stopCopy: chance.copy() })],
  cloneDisk: [
    0.7,
    (chance) => {
      const [disk, to, as] = [chance.disk(), chance.node(), `copied-${chance.index}`];
      // The node of the first one sometimes goes down: then the copy could be mistaken for it.
      if (chance.flag()) chance.plan({ nodeDown: disk.slice(0, disk.indexOf('/')) });
      chance.names.disks.push(`${to}/${as}`);
      return { cloneDisk: { disk, to, as } };
    },
  ],
  setBackDisk: [
    0.7,
    (chance) => {
      const disk = chance.disk();
      chance.plan({ setBackDisk: disk }, { acceptDisk: disk });
      return { saveDisk: disk };
    },
  ],
  workerDown: [1, (chance) => ({ workerDown: 1 + chance.random.below(20) })],
  moveDisk: [1, (chance) => ({ moveDisk: { disk: chance.disk(), to: chance.node() } })],
  loseCopy: [1.5, (chance) => ({ loseCopy: { ...chance.copy(), unlessLast: true } })],
  damageCopy: [
    3,
    (chance) => chance.ofSnapshot((snapshot) => ({ damageCopy: { ...snapshot, on: chance.node() } })),
  ],
  damageAndVerify: [
    1.5,
    (chance) => {
      const copy = chance.copy();
      chance.plan({ verify: copy.volume }, { attach: { volume: copy.volume } });
      if (chance.flag()) chance.plan({ detach: { volume: copy.volume } }, { verify: copy.volume });
      return { damageCopy: copy };
    },
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
  emptyTwoNodes: [
    1,
    (chance) => {
      const closed = { allowScheduling: false, evictionRequested: true };
      chance.plan({ patchNode: { node: chance.node(), ...closed } });
      return { patchNode: { node: chance.node(), ...closed } };
    },
  ],
  emptyDeadNode: [
    1.5,
    (chance) => {
      const node = chance.node();
      chance.plan({ patchNode: { node, allowScheduling: false, evictionRequested: true } });
      return { nodeDown: node };
    },
  ],
  emptyNode: [
    2,
    (chance) => ({
      patchNode: { node: chance.node(), allowScheduling: false, evictionRequested: true },
    }),
  ],
  tagNode: [1, (chance) => ({ patchNode: { node: chance.node(), tags: chance.tags('fast') } })],
  tagDisk: [1, (chance) => ({ patchDisk: { disk: chance.disk(), tags: chance.tags('ssd') } })],
  reserve: [
    0.5,
    (chance) => ({ patchDisk: { disk: chance.disk(), storageReserved: chance.random.below(60) * GIB } }),
  ],
  relabelNode: [
    0.5,
    (chance) => ({ patchNode: { node: chance.node(), zone: chance.random.pick(['z0', 'z1', 'z2']) } }),
  ],
  addDisk: [
    1,
    (chance) => {
      const [node, name] = [chance.node(), `more-${chance.index}`];
      chance.names.disks.push(`${node}/${name}`);
      const type = chance.random.chance(0.2) ? 'block' : 'filesystem';
      return { addDisk: { node, name, type, size: 50 * GIB, tags: chance.tags('ssd') } };
    },
  ],
  removeDisk: [1, (chance) => ({ removeDisk: chance.disk() })],
  retireDisk: [
    1,
    (chance) => {
      const disk = chance.disk();
      chance.plan({ removeDisk: disk });
      return { patchDisk: { disk, allowScheduling: false, evictionRequested: true } };
    },
  ],
  closeDisk: [0.5, (chance) => ({ patchDisk: { disk: chance.disk(), allowScheduling: false } })],
  addNode: [
    0.3,
    (chance) => {
      const name = `new-${chance.index}`;
      chance.names.nodes.push(name);
      chance.names.disks.push(`${name}/disk-1`);
      return { addNode: { name, zone: `z${chance.random.below(3)}` } };
    },
  ],
  removeNode: [0.5, (chance) => ({ removeNode: chance.node() })],
  retireNode: [
    1,
    (chance) => {
      const node = chance.node();
      chance.plan({ nodeDown: node }, { removeNode: node });
      return { patchNode: { node, allowScheduling: false, evictionRequested: true } };
    },
  ],
  forgetNode: [
    1,
    (chance) => {
      const node = chance.node();
      chance.plan({ forgetNode: { node } });
      return { nodeDown: node };
    },
  ],
  removeOrphan: [1, (chance) => ({ removeOrphan: chance.node() })],
  openDisk: [
    2,
    (chance) => ({ patchDisk: { disk: chance.disk(), allowScheduling: true, evictionRequested: false } }),
  ],
  emptyDisk: [
    1,
    (chance) => ({
      patchDisk: { disk: chance.disk(), allowScheduling: false, evictionRequested: true },
    }),
  ],
  set: [
    6,
    ({ random }) => {
      const name = random.pick(Object.keys(SETTINGS)) ?? '';
      return { set: { [name]: random.pick(SETTINGS[name] ?? []) } };
    },
  ],
  limitUse: [0.5, (chance) => ({ setQuota: { of: ownerOf(chance), ...quotaOf(chance.random) } })],
  liftLimits: [0.5, (chance) => ({ setQuota: { of: ownerOf(chance) } })],
};

const VOLUMES: Readonly<Record<string, readonly [share: number, Maker]>> = {
  write: [10, (chance) => ({ write: chance.volume() })],
  attach: [
    9,
    (chance) => ({ attach: { volume: chance.volume(), ...(chance.flag() ? { node: chance.node() } : {}) } }),
  ],
  detach: [3, (chance) => ({ detach: { volume: chance.volume(), force: chance.flag() } })],
  deleteReplica: [8, (chance) => ({ deleteReplica: chance.copy() })],
  moveReplica: [2, (chance) => ({ moveReplica: { ...chance.copy(), to: chance.place() } })],
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
  createVolume: [
    1,
    (chance) => {
      const name = `made-${chance.index}`;
      chance.names.volumes.push(name);
      const numberOfReplicas = 1 + chance.random.below(3);
      return { createVolume: { name, size: (1 + chance.random.below(4)) * GIB, numberOfReplicas } };
    },
  ],
  override: [
    3,
    (chance) => {
      const [field, value] = overrideOf(chance.random);
      return { patchVolume: { volume: chance.volume(), [field]: value } };
    },
  ],
  select: [
    1,
    (chance) => ({
      patchVolume: {
        volume: chance.volume(),
        ...(chance.flag() ? { nodeSelector: chance.tags('fast') } : { diskSelector: chance.tags('ssd') }),
      },
    }),
  ],
  beLocal: [
    0.5,
    (chance) => ({
      patchVolume: { volume: chance.volume(), numberOfReplicas: 1, dataLocality: 'strict-local' },
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

function ownerOf(chance: Chance): 'project' | 'organization' {
  return chance.flag() ? 'project' : 'organization';
}

/** One limit: often the present usage, so that it refuses everything new. */
function quotaOf(random: SeededRandom): Readonly<Record<string, number>> {
  const limits = [
    { runningRebuilds: random.below(3) },
    { volumes: random.below(12) },
    { snapshots: random.below(6) },
    { provisionedBytes: random.below(40) * GIB },
    { physicalBytes: random.below(80) * GIB },
  ];
  return random.pick(limits) ?? {};
}

/** Any answer of a volume to its cluster, or that it follows it again. */
function overrideOf(random: SeededRandom): [field: string, value: string | number] {
  const override = random.pick(VOLUME_OVERRIDES);
  if (override === undefined) throw new Bug('no setting has an override');
  const bounds = overrideBounds(override);
  const values: readonly (string | number)[] = overrideWords(override) ?? [
    bounds?.min ?? 0,
    (bounds?.min ?? 0) + random.below(20),
  ];
  return [override.field, random.pick([followingValue(override), ...values]) ?? 0];
}

const MAKERS = Object.values({ ...FAULTS, ...NODES, ...VOLUMES });
const SHARES = MAKERS.reduce((sum, [share]) => sum + share, 0);

/** Other steps come between related ones: their effects take time. */
const PLANNED_SHARE = 0.3;

/** Steps of one run in order: a later one may use objects that an earlier one makes. */
export class RandomSteps {
  private readonly taken: TakenSnapshot[] = [];
  private count = 0;

  private readonly names: Names;
  private readonly planned: MadeStep[] = [];

  constructor(
    private readonly random: SeededRandom,
    { nodes, disks, volumes }: { [Kind in keyof Names]: readonly string[] },
    private readonly crons: Crons,
  ) {
    this.names = { nodes: [...nodes], disks: [...disks], volumes: [...volumes] };
  }

  next(): MadeStep {
    const planned = this.random.chance(PLANNED_SHARE) ? this.planned.shift() : undefined;
    if (planned !== undefined) return planned;
    let left = this.random.next() * SHARES;
    const index = this.count++;
    for (const [share, make] of MAKERS) {
      left -= share;
      if (left < 0)
        return make(new Chance(this.random, this.names, index, this.taken, this.planned, this.crons));
    }
    return { write: this.names.volumes[0] ?? '' };
  }
}
