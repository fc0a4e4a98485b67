/** Rules of alerts over the facts of one cluster: which causes there are now, each with what follows from it. */
import type { AlertRuleName } from './alert-rules.js';

const MINUTE_MS = 60_000;
const SILENT_MS = MINUTE_MS;
const LAST_COPY_MS = 2 * MINUTE_MS;
const WITHOUT_PLACE_MS = 2 * MINUTE_MS;
const REBUILD_WAITS_MS = 30 * MINUTE_MS;
const CERTIFICATE_LEFT_MS = 120 * MINUTE_MS;
const AUTHORITY_LEFT_MS = 14 * 24 * 60 * MINUTE_MS;
/** Below this share of a disk its copies have to be moved soon. */
const FREE_SHARE_MIN = 0.1;

/** Effects of an alert's cause: how many of each. */
export type AlertEffects = {
  /** Copies on the failed node or disk. */
  readonly copies: number;
  readonly volumesOnLastCopy: number;
  readonly volumesFaulted: number;
  /** Volumes whose engine is there. */
  readonly volumesServedThere: number;
};
export const NO_EFFECTS: AlertEffects = {
  copies: 0,
  volumesOnLastCopy: 0,
  volumesFaulted: 0,
  volumesServedThere: 0,
};

export type FoundAlert = {
  readonly rule: AlertRuleName;
  readonly subject: { readonly id: string; readonly name: string };
  readonly since: Date;
  /** For people, with names and numbers. */
  readonly message: string;
  readonly effects: AlertEffects;
};

export type ClusterFacts = {
  readonly cluster: { readonly id: string; readonly name: string };
  readonly nodes: readonly NodeFacts[];
  readonly disks: readonly DiskFacts[];
  /** Volumes that lack full copies. */
  readonly volumes: readonly VolumeFacts[];
  readonly withoutPlace: { readonly copies: number; readonly oldestAt: Date | undefined };
  readonly waiting: { readonly rebuilds: number; readonly oldestAt: Date | undefined };
  /** Volumes whose copies differ without a majority. */
  readonly differing: { readonly volumes: number; readonly oldestAt: Date | undefined };
  readonly authorityNotAfter: Date | undefined;
};
/** A node that has been heard at least once. */
export type NodeFacts = {
  readonly id: string;
  readonly name: string;
  readonly isReady: boolean;
  /** Since when it is so. */
  readonly since: Date;
  readonly copies: number;
  readonly volumesServed: number;
  /** Undefined: it has no certificate. */
  readonly certificateNotAfter: Date | undefined;
};
export type DiskFacts = {
  readonly id: string;
  readonly name: string;
  readonly nodeId: string;
  readonly nodeName: string;
  readonly isReady: boolean;
  readonly since: Date;
  /** Why it is not ready. */
  readonly reason: string;
  readonly copies: number;
  readonly maximumBytes: number;
  readonly availableBytes: number;
};
export type VolumeFacts = {
  readonly fullCopies: number;
  readonly wantedCopies: number;
  readonly since: Date;
  /** Where its other copies are. */
  readonly failedOn: readonly { readonly nodeId: string; readonly diskId: string }[];
};

export function findAlerts(facts: ClusterFacts, now: Date): FoundAlert[] {
  const age = (since: Date) => now.getTime() - since.getTime();
  const silent = facts.nodes.filter(({ isReady, since }) => !isReady && age(since) >= SILENT_MS);
  // A node that was silent a moment ago explains what its disks and volumes lack all the same.
  const down = new Set(facts.nodes.filter(({ isReady }) => !isReady).map(({ id }) => id));
  const failed = facts.disks.filter(({ isReady, nodeId }) => !isReady && !down.has(nodeId));
  const failedDisks = new Set(failed.map(({ id }) => id));
  const explained = ({ failedOn }: VolumeFacts) =>
    failedOn.some(({ nodeId, diskId }) => down.has(nodeId) || failedDisks.has(diskId));
  return [
    ...silent.map((node) => nodeSilent(node, facts.volumes)),
    ...failed.map((disk) => diskFailed(disk, facts.volumes)),
    ...facts.disks.filter(isNearlyFull).map((disk) => nearlyFull(disk, now)),
    ...ofVolumes(
      facts,
      facts.volumes.filter((volume) => !explained(volume)),
      now,
    ),
    ...ofDiffering(facts),
    ...ofWaiting(facts, now),
    ...ofCertificates(facts, now),
  ];
}

function nodeSilent(node: NodeFacts, volumes: readonly VolumeFacts[]): FoundAlert {
  const concerned = volumes.filter(({ failedOn }) => failedOn.some(({ nodeId }) => nodeId === node.id));
  const effects = {
    copies: node.copies,
    ...sufferingOf(concerned),
    volumesServedThere: node.volumesServed,
  };
  const message = `node ${node.name} is not heard${words(effects)}`;
  return { rule: 'NodeSilent', subject: node, since: node.since, message, effects };
}

function diskFailed(disk: DiskFacts, volumes: readonly VolumeFacts[]): FoundAlert {
  const concerned = volumes.filter(({ failedOn }) => failedOn.some(({ diskId }) => diskId === disk.id));
  const effects = { ...NO_EFFECTS, copies: disk.copies, ...sufferingOf(concerned) };
  const message = `disk ${disk.name} of node ${disk.nodeName} can not be used (${disk.reason})${words(effects)}`;
  return { rule: 'DiskFailed', subject: disk, since: disk.since, message, effects };
}

function isNearlyFull({ isReady, maximumBytes, availableBytes }: DiskFacts): boolean {
  return isReady && maximumBytes > 0 && availableBytes < maximumBytes * FREE_SHARE_MIN;
}

function nearlyFull(disk: DiskFacts, now: Date): FoundAlert {
  const percent = Math.floor((disk.availableBytes / disk.maximumBytes) * 100);
  const message = `disk ${disk.name} of node ${disk.nodeName} has ${percent} % left`;
  const effects = { ...NO_EFFECTS, copies: disk.copies };
  return { rule: 'DiskNearlyFull', subject: disk, since: now, message, effects };
}

function ofVolumes({ cluster }: ClusterFacts, volumes: readonly VolumeFacts[], now: Date): FoundAlert[] {
  const faulted = volumes.filter(({ fullCopies }) => fullCopies === 0);
  const onLast = volumes.filter(
    (volume) => isOnLastCopy(volume) && now.getTime() - volume.since.getTime() >= LAST_COPY_MS,
  );
  return [
    ...counted('VolumesFaulted', cluster, faulted, (count) => `${count} have no full copy`),
    ...counted('VolumesOnLastCopy', cluster, onLast, (count) => `${count} have one full copy left`),
  ];
}

function counted(
  rule: AlertRuleName,
  subject: ClusterFacts['cluster'],
  volumes: readonly VolumeFacts[],
  say: (count: string) => string,
): FoundAlert[] {
  if (volumes.length === 0) return [];
  const since = new Date(Math.min(...volumes.map((volume) => volume.since.getTime())));
  const message = say(`${volumes.length} of the volumes of cluster ${subject.name}`);
  return [{ rule, subject, since, message, effects: { ...NO_EFFECTS, ...sufferingOf(volumes) } }];
}

function ofDiffering({ cluster, differing: { volumes, oldestAt } }: ClusterFacts): FoundAlert[] {
  if (oldestAt === undefined) return [];
  const which = volumes === 1 ? 'copies of 1 volume' : `copies of ${volumes} volumes`;
  const message = `${which} of cluster ${cluster.name} differ; the CopiesDiffer condition has the checksums and the command to choose`;
  return [{ rule: 'CopiesDiffer', subject: cluster, since: oldestAt, message, effects: NO_EFFECTS }];
}

function ofWaiting({ cluster, withoutPlace, waiting }: ClusterFacts, now: Date): FoundAlert[] {
  const isOld = (at: Date | undefined, limitMs: number): at is Date =>
    at !== undefined && now.getTime() - at.getTime() >= limitMs;
  const found: FoundAlert[] = [];
  if (isOld(withoutPlace.oldestAt, WITHOUT_PLACE_MS)) {
    const { copies } = withoutPlace;
    const which = copies === 1 ? '1 copy has' : `${copies} copies have`;
    const why = copies === 1 ? "its volume's explanation says why" : "their volumes' explanations say why";
    const message = `${which} no place in cluster ${cluster.name}; ${why}`;
    const effects = { ...NO_EFFECTS, copies };
    found.push({
      rule: 'CopiesWithoutPlace',
      subject: cluster,
      since: withoutPlace.oldestAt,
      message,
      effects,
    });
  }
  if (isOld(waiting.oldestAt, REBUILD_WAITS_MS)) {
    const message = `${waiting.rebuilds} rebuilds wait in cluster ${cluster.name}, one for half an hour or longer`;
    const since = waiting.oldestAt;
    found.push({ rule: 'RebuildsWaiting', subject: cluster, since, message, effects: NO_EFFECTS });
  }
  return found;
}

/** Of a node that is heard: a silent one can't renew its certificate, and has an alert. */
function ofCertificates({ cluster, nodes, authorityNotAfter }: ClusterFacts, now: Date): FoundAlert[] {
  const endsSoon = (at: Date | undefined, leftMs: number): at is Date =>
    at !== undefined && at.getTime() - now.getTime() < leftMs;
  const found = nodes.flatMap((node): FoundAlert[] => {
    if (!node.isReady || !endsSoon(node.certificateNotAfter, CERTIFICATE_LEFT_MS)) return [];
    const message = `the certificate of node ${node.name} ends at ${node.certificateNotAfter.toISOString()}`;
    return [{ rule: 'CertificateExpires', subject: node, since: now, message, effects: NO_EFFECTS }];
  });
  if (!endsSoon(authorityNotAfter, AUTHORITY_LEFT_MS)) return found;
  const message = `the authority that signs the nodes' certificates ends at ${authorityNotAfter.toISOString()}`;
  return [...found, { rule: 'AuthorityExpires', subject: cluster, since: now, message, effects: NO_EFFECTS }];
}

function isOnLastCopy({ fullCopies, wantedCopies }: VolumeFacts): boolean {
  return fullCopies === 1 && wantedCopies > 1;
}

function sufferingOf(volumes: readonly VolumeFacts[]) {
  return {
    volumesOnLastCopy: volumes.filter(isOnLastCopy).length,
    volumesFaulted: volumes.filter(({ fullCopies }) => fullCopies === 0).length,
  };
}

function words({ copies, volumesOnLastCopy, volumesFaulted, volumesServedThere }: AlertEffects): string {
  const parts = [
    ...told(copies, 'copy is there', 'copies are there'),
    ...told(volumesServedThere, 'volume is served there', 'volumes are served there'),
    ...told(volumesOnLastCopy, 'volume has one full copy left', 'volumes have one full copy left'),
    ...told(volumesFaulted, 'volume has none', 'volumes have none'),
  ];
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`;
}

function told(count: number, one: string, several: string): string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
}
