/**
 * Random scenarios: a cluster, settings, volumes and steps of one seed, as the value of a scenario file. Steps may be refused:
 * whether the product allows them is not predicted.
 */
import { GIB } from '@holdfast/core/model/bytes.js';
import { SeededRandom } from '../seeded-random.js';
import { type Crons, RandomSteps } from './random-steps.js';

export type SearchSize = {
  readonly hours: number;
  /** Left out: 3 to 60, most of them few. */
  readonly nodes?: number | undefined;
  /** Left out: some for each node. */
  readonly volumes?: number | undefined;
  /** Left out: 30 in each of the first two hours, and four in each day that follows. */
  readonly stepsPerHour?: number | undefined;
};

export type NodeValue = {
  name: string;
  zone: string | null;
  region: string | null;
  tags: string[];
  disks: { size: number; type: 'filesystem' | 'block'; tags: string[] }[];
};
export type VolumeValue = { name: string; [field: string]: unknown };
export type StepValue = { at: number; refused: 'maybe'; [step: string]: unknown };

/** A scenario file as a value. */
export type ScenarioValue = {
  scenario: string;
  seed: number;
  cluster: { nodes: NodeValue[] };
  settings: Record<string, boolean | number | string>;
  volumes: VolumeValue[];
  chance: { effects: number; lostWakeUps: number; doubles: number };
  heals: number;
  steps: StepValue[];
};

const STEPS_PER_HOUR = 30;
/** Coincidences are found in these. A long run finds what needs time: pauses after failures, crons, windows, old copies. */
const BUSY_HOURS = 2;
/** In bursts of two on average, each is more than a well-kept cluster of thirty nodes meets in a day. */
export const LATER_STEPS_PER_DAY = 4;
/**
 * Frequency of periodic work. In a search of hours it coincides with everything else; in one of days it runs as often as an operator
 * sets it, because a snapshot in each minute of a week finds everything in its second hour.
 */
const CRONS_OF_HOURS: Crons = {
  integrityChecks: ['0 0 */7 * *', '*/5 * * * *'],
  snapshots: ['* * * * *', '*/10 * * * *', '@hourly'],
};
const CRONS_OF_DAYS: Crons = {
  integrityChecks: ['0 0 */7 * *', '0 3 * * *'],
  snapshots: ['@hourly', '0 */6 * * *', '@daily'],
};
const NODES_MIN = 3;
const NODES_MAX = 60;
/** Long enough for the longest pause after failed rebuilds, and for a replacement after the wait. */
const HEALS_SECONDS = 3_600;
const ZONES = 3;

export function generateScenario(seed: number, size: SearchSize): ScenarioValue {
  const random = new SeededRandom(seed);
  const nodes = Array.from({ length: size.nodes ?? nodeCount(random) }, (_, index) => node(random, index));
  const count = size.volumes ?? 1 + random.below(Math.min(12, nodes.length));
  const volumes = Array.from({ length: count }, (_, index) => volume(random, `v${index + 1}`, nodes));
  const crons = size.hours > BUSY_HOURS ? CRONS_OF_DAYS : CRONS_OF_HOURS;
  return {
    scenario: `seed ${seed}`,
    seed,
    cluster: { nodes },
    settings: settings(random, crons),
    volumes,
    chance: {
      effects: 0.04 * random.below(3),
      lostWakeUps: 0.05 * random.below(3),
      doubles: 0.1 * random.below(3),
    },
    heals: HEALS_SECONDS,
    steps: steps(random, size, crons, { nodes, volumes }),
  };
}

/** Small clusters meet more corners in less time. */
function nodeCount(random: SeededRandom): number {
  const span = random.pick([3, 3, 6, 6, 12, NODES_MAX - NODES_MIN]) ?? 3;
  return NODES_MIN + random.below(span + 1);
}

function node(random: SeededRandom, index: number): NodeValue {
  const disks = Array.from({ length: 1 + random.below(3) }, () => ({
    size: (50 + random.below(100)) * GIB,
    type: 'filesystem' as const,
    tags: random.chance(0.3) ? ['ssd'] : [],
  }));
  const blockDisk = { size: 100 * GIB, type: 'block' as const, tags: [] };
  return {
    name: `n${index + 1}`,
    zone: random.chance(0.9) ? `z${index % ZONES}` : null,
    region: random.chance(0.5) ? `r${index % 2}` : null,
    tags: random.chance(0.5) ? ['fast'] : [],
    disks: [...disks, ...(random.chance(0.4) ? [blockDisk] : [])],
  };
}

function volume(random: SeededRandom, name: string, nodes: readonly NodeValue[]): VolumeValue {
  const hasSelector = nodes.filter(({ tags }) => tags.includes('fast')).length >= 4 && random.chance(0.2);
  const blockNodes = nodes.filter(({ disks }) => disks.some(({ type }) => type === 'block')).length;
  return {
    name,
    size: (1 + random.below(4)) * GIB,
    numberOfReplicas: 1 + random.below(3),
    waits: true,
    ...(blockNodes >= 3 && random.chance(0.3) ? { dataEngine: 'v2' } : {}),
    ...(hasSelector ? { nodeSelector: ['fast'] } : {}),
    ...(random.chance(0.2) ? { replicaSoftAntiAffinity: 'enabled' } : {}),
    ...(random.chance(0.2) ? { replicaZoneSoftAntiAffinity: random.pick(['enabled', 'disabled']) } : {}),
    ...(random.chance(0.3) ? { offlineRebuilding: 'enabled' } : {}),
    ...(random.chance(0.6) ? { attached: random.pick(nodes)?.name } : {}),
  };
}

function settings(random: SeededRandom, { integrityChecks }: Crons): ScenarioValue['settings'] {
  return {
    'replica-replenishment-wait-interval': random.below(120),
    'concurrent-replica-rebuild-per-node-limit': 1 + random.below(3),
    'concurrent-rebuild-source-per-node-limit': 1 + random.below(3),
    'snapshot-heavy-task-concurrent-limit': 1 + random.below(3),
    'replica-soft-anti-affinity': random.chance(0.3),
    'replica-zone-soft-anti-affinity': random.chance(0.5),
    'replica-disk-soft-anti-affinity': random.chance(0.5),
    'offline-replica-rebuilding': random.chance(0.5),
    'replica-auto-balance': random.pick(['disabled', 'least-effort', 'best-effort']) ?? 'disabled',
    'replica-relocate-on-selector-change': random.chance(0.5),
    'snapshot-data-integrity-cronjob': integrityChecks[random.chance(0.5) ? 1 : 0],
  };
}

function steps(
  random: SeededRandom,
  { hours, stepsPerHour }: SearchSize,
  crons: Crons,
  { nodes, volumes }: { nodes: readonly NodeValue[]; volumes: readonly VolumeValue[] },
): StepValue[] {
  const count = Math.max(
    1,
    Math.round(stepsPerHour === undefined ? usualSteps(hours) : hours * stepsPerHour),
  );
  const meanSeconds = (hours * 3600) / count;
  const names = {
    nodes: nodes.map(({ name }) => name),
    disks: nodes.flatMap(({ name, disks }) => disks.map((_, index) => `${name}/disk-${index + 1}`)),
    volumes: volumes.map(({ name }) => name),
  };
  const made = new RandomSteps(random, names, crons);
  let at = 0;
  return Array.from({ length: count }, (): StepValue[] => {
    // Steps come in bursts: coincidences within one second break more than evenly spread steps.
    at += random.chance(0.5) ? random.below(3) : random.below(Math.ceil(4 * meanSeconds));
    const writer = random.pick(names.volumes) ?? '';
    return [
      { at, refused: 'maybe', ...made.next() },
      { at, refused: 'maybe', write: writer },
    ];
  }).flat();
}

function usualSteps(hours: number): number {
  return (
    STEPS_PER_HOUR * Math.min(hours, BUSY_HOURS) +
    (LATER_STEPS_PER_DAY / 24) * Math.max(0, hours - BUSY_HOURS)
  );
}
