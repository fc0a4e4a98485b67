/** Inspection of a Longhorn cluster: volumes that are not in order, then truths that its objects contradict, worst first. Pure. */
import { indexOf } from './inspection/cluster-index.js';
import { diskTruths } from './inspection/disk-truths.js';
import { inspectVolumes } from './inspection/inspect-volumes.js';
import { type InspectionReport, SEVERITIES, type Severity } from './inspection/report.js';
import { riskOf } from './inspection/risk.js';
import { topologyOf } from './inspection/topology.js';
import { volumeTruths } from './inspection/volume-truths.js';
import type { LonghornCluster } from './model.js';
import type { ReadSource } from './read-cluster.js';

/** Volumes and findings that are listed: some hundred screens. The summary counts all. */
const LISTED_MAX = 5000;

/** @param now what waits are judged by: when the source was made */
export function inspectCluster(
  { cluster, signatures, alertFindings }: ReadSource,
  source: string,
  now: Date,
): InspectionReport {
  const index = indexOf(cluster);
  const volumes = inspectVolumes(index, now);
  const findings = [...diskTruths(index), ...volumeTruths(index), ...alertFindings].sort(bySeverity);
  const count = (severity: Severity) =>
    [...volumes, ...findings, ...signatures].filter((one) => one.severity === severity).length;
  const leftOut = Math.max(0, volumes.length - LISTED_MAX) + Math.max(0, findings.length - LISTED_MAX);
  return {
    schema: 'holdfast.longhorn.inspect/1',
    source,
    at: now.toISOString(),
    cluster: {
      version: cluster.version,
      namespace: cluster.namespace,
      apiVersions: [...cluster.apiVersions],
      counts: countsOf(cluster),
      otherKinds: Object.fromEntries(cluster.otherKinds),
      unreadFiles: cluster.unreadFiles,
    },
    summary: {
      critical: count('critical'),
      warning: count('warning'),
      info: count('info'),
      volumesNotInOrder: volumes.length,
    },
    volumes: volumes.slice(0, LISTED_MAX),
    findings: findings.slice(0, LISTED_MAX),
    signatures: signatures.map((one) => ({ ...one, evidence: [...one.evidence] })).sort(bySeverity),
    topology: topologyOf(index),
    risk: cluster.replicas.length === 0 ? null : riskOf(index),
    leftOut,
    problems: cluster.problems.map(({ file, line, code, message }) => ({ file, line, code, message })),
    problemsLeftOut: cluster.problemsLeftOut,
    assumptions: assumptionsOf(cluster),
  };
}

/** True if the files contained any Longhorn objects. */
export function isLonghorn({ nodes, volumes, replicas, settings }: LonghornCluster): boolean {
  return nodes.length + volumes.length + replicas.length + settings.size > 0;
}

function bySeverity(a: { severity: Severity }, b: { severity: Severity }): number {
  return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity);
}

function countsOf(cluster: LonghornCluster): Record<string, number> {
  return {
    nodes: cluster.nodes.length,
    zones: new Set(cluster.nodes.map(({ zone }) => zone)).size,
    disks: cluster.nodes.reduce((sum, { disks }) => sum + disks.length, 0),
    volumes: cluster.volumes.length,
    replicas: cluster.replicas.length,
    engines: cluster.engines.length,
    snapshots: cluster.snapshots.length,
    settings: cluster.settings.size,
    recurringJobs: cluster.recurringJobs.length,
    attachments: cluster.attachments.length,
    backups: cluster.backups.length,
    orphans: cluster.orphans.length,
  };
}

function assumptionsOf({
  nodes,
  replicas,
  settings,
  engineImages,
  instanceManagers,
}: LonghornCluster): string[] {
  return [
    ...(nodes.length === 0 ? ['no nodes were read: nothing is said of places'] : []),
    ...(replicas.length === 0 ? ['no replicas were read: nothing is said of copies'] : []),
    ...(settings.size === 0 ? ["no settings were read: Longhorn's defaults are taken"] : []),
    ...(engineImages.length === 0 ? ['no engine images were read: each node is taken to have them'] : []),
    ...(instanceManagers.length === 0
      ? ['no instance managers were read: each node is taken to run one']
      : []),
  ];
}
