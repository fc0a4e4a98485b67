/**
 * Conclusions from the reports of a heartbeat: which of them are news, and what a store keeps. Every store uses these, so that memory
 * and Postgres wake the same reconcilers.
 */
import type { DiskReport, EngineReport, RebuildReport } from '../model/agent-protocol.js';
import { conditionOf } from '../model/condition.js';
import type { StorageDisk } from '../model/node.js';
import { rebuildPercent } from '../model/rebuild.js';
import { PAST_BOOTS_MAX } from '../policy/agent-identity.js';
import { conditionsAfter } from '../policy/disk-conditions.js';
import { type DiskNews, diskReadyNews } from '../policy/disk-events.js';
import { isFull } from './start-obstacles.js';

/**
 * Everything in an engine's report that its volume's reconciler may act on, as one text: a report with another one is news.
 * Progress is left out on purpose: it comes with every heartbeat, and changes no plan.
 */
export function engineSignature(report: EngineReport): string {
  const known = signatures.get(report);
  if (known !== undefined) return known;
  const signature = makeSignature(report);
  signatures.set(report, signature);
  return signature;
}

/** Each report is compared with the one before it and the one after it. */
const signatures = new WeakMap<EngineReport, string>();

function makeSignature(report: EngineReport): string {
  const { record } = report;
  return JSON.stringify([
    report.epoch,
    report.grantId ?? '',
    report.state,
    record.epoch,
    record.dataGeneration,
    [...record.members].sort(),
    record.durable === undefined ? '' : `${record.durable.epoch}.${record.durable.dataGeneration}`,
    report.replicas.map(({ replicaId, mode }) => `${replicaId} ${mode}`).sort(),
    report.rebuilds
      .map(({ rebuildId, state, phase, sourceReplicaIds = [] }) =>
        [rebuildId, state, phase, ...sourceReplicaIds].join(' '),
      )
      .sort(),
    report.fill?.state ?? '',
    report.replicaTimeoutMs ?? '',
  ]);
}

/** Reported fields of a disk's row. */
export type DiskFacts = Pick<
  StorageDisk,
  'name' | 'path' | 'type' | 'fileSystem' | 'storageMaximumBytes' | 'storageAvailableBytes' | 'conditions'
>;

export type DiskUpdate = {
  readonly facts: DiskFacts;
  /** It counts the row's version up, as every change does that a decision may depend on. */
  readonly isCounted: boolean;
  /** The cluster's reconciler has to look; free space alone changes with every write. */
  readonly concernsCluster: boolean;
  /** It became full, was lost, or is well again: the volumes with a copy there say so, and may go on. */
  readonly concernsReplicas: boolean;
  /** It became usable or unusable. */
  readonly told: DiskNews | undefined;
};

/**
 * @param known undefined: its first report
 * @returns undefined where the row says all of it already
 */
export function applyDiskReport(
  known: DiskFacts | undefined,
  report: DiskReport,
  now: Date,
): DiskUpdate | undefined {
  const before = known?.conditions ?? [];
  const conditions = conditionsAfter(report, before, now);
  const facts: DiskFacts = {
    name: report.name,
    path: report.path,
    type: report.type,
    fileSystem: report.fileSystem,
    storageMaximumBytes: report.maximumBytes,
    storageAvailableBytes: report.availableBytes,
    conditions,
  };
  const told = diskReadyNews(report.name, before, conditions);
  if (known === undefined) {
    return { facts, isCounted: false, concernsCluster: true, concernsReplicas: false, told };
  }
  const isSame =
    known.name === facts.name &&
    known.path === facts.path &&
    known.type === facts.type &&
    known.fileSystem === facts.fileSystem &&
    known.storageMaximumBytes === facts.storageMaximumBytes;
  if (isSame && conditions === before && known.storageAvailableBytes === facts.storageAvailableBytes) {
    return undefined;
  }
  const isReadyChanged = readiness(before) !== readiness(conditions);
  return {
    facts,
    isCounted: conditions !== before || known.storageMaximumBytes !== facts.storageMaximumBytes,
    concernsCluster: !isSame || isReadyChanged,
    concernsReplicas: isReadyChanged || isFull(known) !== isFull(facts),
    told,
  };
}

function readiness(conditions: StorageDisk['conditions']): string | undefined {
  return conditionOf(conditions, 'Ready')?.status;
}

export function percentAfterReport({ phase, bytes }: RebuildReport, previous: number): number {
  // Agents of earlier versions go on counting `compared` while they verify.
  const verified = Math.max(bytes.verified, bytes.compared - bytes.total);
  return rebuildPercent(phase, { ...bytes, verified }, previous);
}

/** The lives (boots) of an agent that are over once it has started anew, the last one first. */
export function livesBefore(bootId: string | undefined, past: readonly string[]): string[] {
  return [...(bootId === undefined ? [] : [bootId]), ...past].slice(0, PAST_BOOTS_MAX);
}
