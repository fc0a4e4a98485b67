/** Failures that show only in several objects together. */
import { lintAlerts } from '../alerts/lint-alerts.js';
import { grouped, isHealthyReplica } from '../inspection/cluster-index.js';
import type { Evidence, Signature, SignatureFacts } from './signature.js';

export const CLUSTER_SIGNATURES: readonly Signature[] = [
  {
    number: 1,
    name: 'second-engine',
    title: 'a volume has two active engines',
    severity: 'critical',
    releases: ['<=1.4.3', '1.5.0-1.5.1'],
    advice: 'delete the engine that is not on the node of the volume (status.currentNodeID), and upgrade.',
    source: 'longhorn/longhorn#6642',
    inLines: /found the second active engine/,
    inCluster: ({ cluster }) => volumesWithTwoEngines(cluster),
  },
  {
    number: 6,
    name: 'not-scheduled',
    title: 'volumes lack places for replicas',
    severity: 'warning',
    releases: [],
    advice: 'see the volumes above: rule, numbers and cures stand there.',
    source: 'Longhorn documentation: scheduling',
    inCluster: ({ cluster }) =>
      cluster.volumes.flatMap(({ name, conditions, at }) => {
        const scheduled = conditions.find(({ type }) => type === 'Scheduled');
        return scheduled?.status === 'False'
          ? [{ object: `volume ${name}`, message: scheduled.message || scheduled.reason, at }]
          : [];
      }),
  },
  {
    number: 9,
    name: 'priority-class',
    title: 'instance managers are made again every hour',
    severity: 'warning',
    releases: ['>=1.0.1'],
    isSuspect: true,
    advice: 'set the setting priority-class to the default PriorityClass of the cluster.',
    source: 'longhorn/longhorn#2820',
    inCluster: ({ cluster, noted }) =>
      cluster.settings.size > 0 && (cluster.settings.get('priority-class')?.v1 ?? '') === ''
        ? noted.defaultPriorityClasses
        : [],
  },
  {
    number: 22,
    name: 'orphaned-instance',
    title: 'an instance manager runs an engine or replica that no object names',
    severity: 'warning',
    releases: [],
    advice:
      'from 1.9 on delete it as an orphan; before, restart the instance manager when no volume of its node is in use.',
    source: 'Longhorn documentation: orphaned instances',
    inCluster: ({ cluster, noted }) => {
      const known = new Set([...cluster.engines, ...cluster.replicas].map(({ name }) => name));
      if (known.size === 0) return [];
      return noted.instances
        .filter(({ name }) => !known.has(name))
        .map(({ name, manager, at }) => ({
          object: `instance manager ${manager}`,
          message: `runs ${name}, which has no object`,
          at,
        }));
    },
  },
  {
    number: 23,
    name: 'orphaned-data',
    title: 'disks hold replica folders that belong to no volume',
    severity: 'info',
    releases: ['>=1.3.0'],
    advice: 'delete the orphans to get the space back, once you know that no volume needs them.',
    source: 'Longhorn documentation: orphaned data',
    inCluster: ({ cluster }) =>
      cluster.orphans
        .filter(({ type }) => type === 'replica')
        .map(({ name, nodeName, dataName, at }) => ({
          object: `orphan ${name}`,
          message: `${dataName || 'a folder'} on ${nodeName}`,
          at,
        })),
  },
  {
    number: 27,
    name: 'degraded-long',
    title: 'a volume is degraded for more than a day, and nothing says why',
    severity: 'warning',
    releases: [],
    advice: 'see the volume above: why no replica is made stands there.',
    source: 'Longhorn documentation: volume conditions',
    inCluster: ({ cluster, now }) =>
      cluster.volumes.flatMap(({ name, robustness, lastDegradedAt, conditions, at }) => {
        const since = new Date(lastDegradedAt).getTime();
        const isScheduled = conditions.some(({ type, status }) => type === 'Scheduled' && status === 'True');
        return robustness === 'degraded' && isScheduled && now.getTime() - since > DAY_MS
          ? [{ object: `volume ${name}`, message: `degraded since ${lastDegradedAt}`, at }]
          : [];
      }),
  },
  {
    number: 28,
    name: 'drain-blocked',
    title: 'a node that is drained holds the only replica of a volume in use',
    severity: 'warning',
    releases: [],
    advice: 'add a replica to the volume, or evict it from that node: the drain can not end before.',
    source: 'longhorn/longhorn#5910 and longhorn/longhorn#7873',
    inCluster: onlyReplicasOnCordoned,
  },
  {
    number: 33,
    name: 'half-upgraded',
    title: 'parts of Longhorn have different releases',
    severity: 'warning',
    releases: [],
    advice: 'finish the upgrade: managers first, then the engines of all volumes.',
    source: 'Longhorn documentation: upgrade',
    inCluster: differentReleases,
  },
  {
    number: 36,
    name: 'alert-never-fires',
    title: 'alerts compare a state with a number, and can never fire',
    severity: 'critical',
    releases: ['>=1.11.0'],
    advice: 'change the expressions as the findings say: states have a series each since 1.11.',
    source: 'longhorn/longhorn#10723',
    inCluster: ({ cluster, noted }) =>
      lintAlerts(noted.alertRules, cluster.version).neverFires.map(({ object, message, at }) => ({
        object,
        message,
        at,
      })),
  },
  {
    number: 37,
    name: 'backup-ticket',
    title: 'a backup that waits for a lost snapshot holds its volume',
    severity: 'warning',
    releases: ['1.7.2-1.7.2'],
    isSuspect: true,
    advice:
      'delete the Backup, not the ticket, which comes again. Maintainers say that such a ticket gives way, so look for another cause too.',
    source: 'longhorn/longhorn#10090 and longhorn/longhorn#9934',
    inCluster: ({ cluster, noted }) => {
      const held = cluster.attachments.some(({ tickets }) =>
        tickets.some(({ type }) => type === 'backup-controller'),
      );
      return held
        ? noted.waitingBackups
            .filter(({ message }) => /snapshot[^\n]*not found|not found[^\n]*snapshot/i.test(message))
            .map(({ name, message, at }) => ({ object: `backup ${name}`, message, at }))
        : [];
    },
  },
];

const DAY_MS = 86_400_000;

function volumesWithTwoEngines({ engines }: SignatureFacts['cluster']): Evidence[] {
  const first = new Map<string, string>();
  return engines
    .filter(({ isActive }) => isActive)
    .flatMap(({ name, volumeName, nodeName, at }) => {
      const known = first.get(volumeName);
      if (known === undefined) first.set(volumeName, name);
      return known === undefined
        ? []
        : [{ object: `engine ${name}`, message: `active on ${nodeName || 'no node'} beside ${known}`, at }];
    });
}

function onlyReplicasOnCordoned({ cluster }: SignatureFacts): Evidence[] {
  const cordoned = new Set(cluster.nodes.filter(({ isCordoned }) => isCordoned).map(({ name }) => name));
  if (cordoned.size === 0) return [];
  const replicasOf = grouped(cluster.replicas, ({ volumeName }) => volumeName);
  return cluster.volumes.flatMap(({ name, state, at }) => {
    if (state !== 'attached') return [];
    const healthy = (replicasOf.get(name) ?? []).filter(isHealthyReplica);
    const [only] = healthy;
    return healthy.length === 1 && only !== undefined && cordoned.has(only.nodeName)
      ? [
          {
            object: `volume ${name}`,
            message: `its only replica is ${only.name} on ${only.nodeName}, which is cordoned`,
            at,
          },
        ]
      : [];
  });
}

function differentReleases({ cluster, noted }: SignatureFacts): Evidence[] {
  const wanted = cluster.version;
  const managers = noted.managerImages.flatMap(({ image, pod, at }) => {
    const tag = /longhorn-manager:([^@\s]+)/.exec(image)?.[1];
    return tag !== undefined && wanted !== '' && tag !== wanted
      ? [
          {
            object: `pod ${pod}`,
            message: `runs ${tag}, and the setting current-longhorn-version is ${wanted}`,
            at,
          },
        ]
      : [];
  });
  const images = [...new Set(cluster.engines.map(({ image }) => image).filter((image) => image !== ''))];
  const [engine] = cluster.engines;
  return images.length > 1 && engine !== undefined
    ? [
        ...managers,
        { object: 'engines', message: `have the images ${images.slice(0, 5).join(', ')}`, at: engine.at },
      ]
    : managers;
}
