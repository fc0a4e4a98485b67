/**
 * Filter pipeline with counts: every filter is asked about all that the filters before it let pass. The placement itself
 * stops at the first answer; this is the slow path that says what happened on the way.
 */
import { compareIds } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import { descriptionOfRule } from '../filters/rules.js';
import {
  type Check,
  type FilterPlugin,
  type PlacementCycle,
  prepareAll,
  type Rejection,
  type TierName,
} from '../framework/framework.js';
import { type Occupancy, occupancyOf } from '../framework/occupancy.js';
import {
  diskAntiAffinityRule,
  nodeAntiAffinityRule,
  nodeHasDiskRule,
  zoneAntiAffinityRule,
} from '../framework/sharing-rules.js';
import { nodeWithoutDisk } from '../placement/explain.js';
import { leastSharedDisks, rejectionBySharing } from '../tiers/disk-anti-affinity.js';
import { rejectionByTiers, type Tier, tiersOf } from '../tiers/tiers.js';
import {
  type FilterRejection,
  type FilterReport,
  REJECTIONS_SHOWN_MAX,
  type TierOutcome,
  type TierReport,
} from './explanation.js';

export type FilterPipelineReport = {
  readonly filters: readonly FilterReport[];
  readonly tiers: readonly TierReport[];
  readonly candidates: readonly StorageDisk[];
};

type Refused<Subject> = { readonly subject: Subject; readonly rejection: Rejection };

export function runFilterPipeline(cycle: PlacementCycle): FilterPipelineReport {
  const reports: FilterReport[] = [];
  const ofNodes = reporterOfNodes(reports);
  const passing = askAll(cycle.profile.rules.nodeFilters, cycle, cycle.fleet.nodes, ofNodes);
  const tagged = askAll(cycle.profile.rules.nodeTagFilters, cycle, passing, ofNodes);

  const occupancy = occupancyOf(cycle, passing);
  const triedTiers = tryTiers(cycle, passing, occupancy);
  const tried = new Set(
    triedTiers.flatMap(({ tier, outcome }) => (outcome === 'not-needed' ? [] : tier.nodes)),
  );
  const reached = askTiers(tagged, tried, (node) => rejectionByTiers(node, occupancy), ofNodes);
  const withDisks = askOne(nodeHasDiskRule.name, reached, withoutDisk(cycle), ofNodes);

  const ofDisks = reporterOfDisks(reports, cycle);
  const disks = withDisks.flatMap((node) => cycle.disksByNode.get(node.id) ?? []);
  const fitting = askAll(cycle.profile.rules.diskFilters, cycle, disks, ofDisks);
  const candidates = triedTiers.find(({ outcome }) => outcome === 'won')?.candidates ?? [];
  const isCandidate = new Set(candidates);
  askOne(
    diskAntiAffinityRule.name,
    fitting,
    (disk) => (isCandidate.has(disk) ? undefined : rejectionBySharing(disk)),
    ofDisks,
  );
  return { filters: reports, tiers: triedTiers.map(toTierReport), candidates };
}

type TriedTier = {
  readonly tier: Tier;
  readonly candidates: readonly StorageDisk[];
  readonly outcome: TierOutcome;
};

function tryTiers(cycle: PlacementCycle, nodes: readonly StorageNode[], occupancy: Occupancy): TriedTier[] {
  const checkDisk = prepareAll(cycle.profile.rules.diskFilters, cycle);
  const tiers = tiersOf(cycle, nodes, occupancy, prepareAll(cycle.profile.rules.nodeTagFilters, cycle));
  let isWon = false;
  return tiers.map((tier): TriedTier => {
    if (isWon) return { tier, candidates: [], outcome: 'not-needed' };
    if (tier.nodes.length === 0) return { tier, candidates: [], outcome: 'no-node' };
    const disks = tier.nodes.flatMap((node) => cycle.disksByNode.get(node.id) ?? []);
    const fitting = disks.filter((disk) => checkDisk(disk) === undefined);
    const candidates = leastSharedDisks(cycle, fitting, occupancy);
    isWon = candidates.length > 0;
    return { tier, candidates, outcome: isWon ? 'won' : 'no-disk' };
  });
}

const TIER_WORDS: Record<TierName, string> = {
  'unused-node-in-unused-zone': 'a node and a zone without a replica of the volume',
  'unused-node-in-leaving-zone':
    'a node without a replica of the volume, in a zone whose replicas of it are all being evicted',
  'leaving-node-in-leaving-zone': 'a node and a zone whose replicas of the volume are all being evicted',
  'unused-node': 'a node without a replica of the volume, in any zone',
  'leaving-node': 'a node whose replicas of the volume are all being evicted',
  'used-node': 'a node that holds a replica of the volume already',
};

export function tierInWords(name: TierName): string {
  return TIER_WORDS[name];
}

function toTierReport({ tier, candidates, outcome }: TriedTier): TierReport {
  return {
    name: tier.name,
    description: TIER_WORDS[tier.name],
    nodes: tier.nodes.length,
    candidates: candidates.length,
    outcome,
  };
}

type Asked<Subject> = {
  readonly name: string;
  readonly applies: boolean;
  readonly asked: number;
  readonly refused: readonly Refused<Subject>[];
};
type Reporter<Subject> = (answer: Asked<Subject>) => void;

function askAll<Subject>(
  plugins: readonly FilterPlugin<Subject>[],
  cycle: PlacementCycle,
  subjects: readonly Subject[],
  report: Reporter<Subject>,
): readonly Subject[] {
  return plugins.reduce((left, plugin) => {
    const check = plugin.prepare(cycle);
    if (check !== undefined) return askOne(plugin.name, left, check, report);
    report({ name: plugin.name, applies: false, asked: 0, refused: [] });
    return left;
  }, subjects);
}

function askOne<Subject>(
  name: string,
  subjects: readonly Subject[],
  check: Check<Subject>,
  report: Reporter<Subject>,
): readonly Subject[] {
  const refused: Refused<Subject>[] = [];
  const left = subjects.filter((subject) => {
    const rejection = check(subject);
    if (rejection !== undefined) refused.push({ subject, rejection });
    return rejection === undefined;
  });
  report({ name, applies: true, asked: subjects.length, refused });
  return left;
}

/** The tiers refuse for a taken node or for a taken zone: two rules, as users know them. */
function askTiers(
  nodes: readonly StorageNode[],
  inTriedTiers: ReadonlySet<StorageNode>,
  rejectionOf: (node: StorageNode) => Rejection,
  report: Reporter<StorageNode>,
): readonly StorageNode[] {
  const refusedBy = (rule: string) => (node: StorageNode) => {
    const rejection = inTriedTiers.has(node) ? undefined : rejectionOf(node);
    return rejection?.rule === rule ? rejection : undefined;
  };
  const left = askOne(nodeAntiAffinityRule.name, nodes, refusedBy(nodeAntiAffinityRule.name), report);
  return askOne(zoneAntiAffinityRule.name, left, refusedBy(zoneAntiAffinityRule.name), report);
}

function withoutDisk({ disksByNode }: PlacementCycle): Check<StorageNode> {
  return (node) => ((disksByNode.get(node.id) ?? []).length > 0 ? undefined : nodeWithoutDisk(node));
}

function reporterOfNodes(reports: FilterReport[]): Reporter<StorageNode> {
  return ({ refused, ...answer }) => {
    const rejections = refused.map(({ subject, rejection }) => toRejection(subject, undefined, rejection));
    reports.push(toReport('node', answer, rejections));
  };
}

function reporterOfDisks(reports: FilterReport[], { nodesById }: PlacementCycle): Reporter<StorageDisk> {
  return ({ refused, ...answer }) => {
    const rejections = refused.flatMap(({ subject, rejection }) => {
      const node = nodesById.get(subject.nodeId);
      return node === undefined ? [] : [toRejection(node, subject, rejection)];
    });
    reports.push(toReport('disk', answer, rejections));
  };
}

function toReport(
  subject: FilterReport['subject'],
  answer: Pick<FilterReport, 'name' | 'applies' | 'asked'>,
  rejections: readonly FilterRejection[],
): FilterReport {
  const shown = [...rejections].sort(closestFirst).slice(0, REJECTIONS_SHOWN_MAX);
  return {
    ...answer,
    description: descriptionOfRule(answer.name),
    subject,
    rejected: rejections.length,
    reasons: countReasons(rejections),
    rejections: shown,
  };
}

function countReasons(rejections: readonly FilterRejection[]): FilterReport['reasons'] {
  const counts = new Map<string, number>();
  for (const { reason } of rejections) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => ({ reason, count }))
    .sort((a, b) => b.count - a.count || compareIds(a.reason, b.reason));
}

/** Where bytes decide, what lacks the least is worth most to know; the others stand by name. */
function closestFirst(a: FilterRejection, b: FilterRejection): number {
  return (
    lackedBytes(a) - lackedBytes(b) ||
    compareIds(a.nodeName, b.nodeName) ||
    compareIds(a.diskName ?? '', b.diskName ?? '') ||
    compareIds(a.diskId ?? a.nodeId, b.diskId ?? b.nodeId)
  );
}

function lackedBytes({ reason, numbers }: FilterRejection): number {
  if (numbers === null) return 0;
  const { requiredBytes, availableBytes, thresholdBytes } = numbers;
  const keptBytes = reason === 'InsufficientFreeSpace' ? thresholdBytes : 0;
  return requiredBytes + keptBytes - availableBytes;
}

function toRejection(
  node: StorageNode,
  disk: StorageDisk | undefined,
  { reason, message, numbers }: Rejection,
): FilterRejection {
  return {
    nodeId: node.id,
    nodeName: node.name,
    diskId: disk?.id ?? null,
    diskName: disk?.name ?? null,
    reason,
    message,
    numbers: numbers ?? null,
  };
}
