/** Objects of Longhorn to the facts of a cluster. Every release's names for a field are here and nowhere else. */
import type { LonghornCluster } from './model.js';
import { part, text } from './reading/fields.js';
import type { Tell } from './reading/problem.js';
import type { KubernetesObject } from './reading/read-objects.js';
import { toNode } from './to-node.js';
import {
  toAttachment,
  toBackingImage,
  toBackup,
  toEngine,
  toEngineImage,
  toInstanceManager,
  toOrphan,
  toRecurringJob,
  toSettingText,
  toSnapshot,
} from './to-others.js';
import { toReplica, toVolume } from './to-volume.js';

type Read = Omit<LonghornCluster, 'problems' | 'problemsLeftOut' | 'unreadFiles'>;

/** Kinds that the cluster's facts are made of; all other kinds are counted. */
const MODELLED = [
  'Node',
  'Volume',
  'Replica',
  'Engine',
  'Snapshot',
  'Setting',
  'RecurringJob',
  'VolumeAttachment',
  'Backup',
  'Orphan',
  'EngineImage',
  'InstanceManager',
  'BackingImage',
] as const;

export function toCluster(objects: readonly KubernetesObject[], tell: Tell): Read {
  const found = new Map<string, KubernetesObject>();
  for (const object of objects) keep(found, object, tell);
  const kept = [...found.values()];
  const ours = kept.filter(({ group }) => group === 'longhorn.io');
  const of = (type: (typeof MODELLED)[number]) => ours.filter((object) => object.type === type);
  const kubernetesNodes = new Map(
    kept.filter(({ group, type }) => group === '' && type === 'Node').map((object) => [object.name, object]),
  );
  const others = kept.filter(
    ({ group, type }) => group !== 'longhorn.io' || !MODELLED.some((one) => one === type),
  );
  return {
    namespace: mostFrequent(ours.map(({ namespace }) => namespace)),
    version: versionOf(of('Setting')),
    apiVersions: [...new Set(ours.map(({ apiVersion }) => apiVersion))].sort(),
    nodes: of('Node').map((object) => toNode(object, kubernetesNodes.get(object.name), tell)),
    volumes: of('Volume').map((object) => toVolume(object, tell)),
    replicas: of('Replica').map((object) => toReplica(object, tell)),
    engines: of('Engine').map(toEngine),
    snapshots: of('Snapshot').map((object) => toSnapshot(object, tell)),
    settings: new Map(of('Setting').map((object) => [object.name, toSettingText(object)])),
    recurringJobs: of('RecurringJob').map((object) => toRecurringJob(object, tell)),
    attachments: of('VolumeAttachment').map(toAttachment),
    backups: of('Backup').map((object) => toBackup(object, tell)),
    orphans: of('Orphan').map(toOrphan),
    engineImages: of('EngineImage').map(toEngineImage),
    instanceManagers: of('InstanceManager').map(toInstanceManager),
    backingImages: of('BackingImage').map(toBackingImage),
    otherKinds: counted(others.map(({ group, type }) => (group === '' ? type : `${type}.${group}`))),
  };
}

/**
 * A folder may hold an object twice, such as in a dump beside a bundle: the first is kept, and a differing second one is reported.
 */
function keep(found: Map<string, KubernetesObject>, object: KubernetesObject, tell: Tell): void {
  const key = [object.group, object.type, object.namespace, object.name].join('/');
  const known = found.get(key);
  if (known === undefined) {
    found.set(key, object);
    return;
  }
  if (JSON.stringify(known.json) === JSON.stringify(object.json)) return;
  const message = `${object.type} ${object.name} is there twice and differs from the one in ${known.file}:${known.line}, which is used`;
  tell({ kind: 'problem', code: 'value', file: object.file, line: object.line, message });
}

function versionOf(settings: readonly KubernetesObject[]): string {
  const setting = settings.find(({ name }) => name === 'current-longhorn-version');
  return setting === undefined ? '' : text(part(setting.json), 'value');
}

function mostFrequent(texts: readonly string[]): string {
  const [first] = [...counted(texts.filter((one) => one !== ''))].sort(([, a], [, b]) => b - a);
  return first?.[0] ?? '';
}

function counted(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of texts) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}
