/** Objects of Longhorn to the facts of a cluster. Every release's names for a field are here and nowhere else. */
import crypto from 'node:crypto';
import type {
  BackingImage,
  EngineImage,
  InstanceManager,
  LonghornAttachment,
  LonghornBackup,
  LonghornCluster,
  LonghornEngine,
  LonghornOrphan,
  LonghornReplica,
  LonghornSnapshot,
  LonghornVolume,
  RecurringJob,
  SettingText,
} from './model.js';
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

/** Kinds that are facts of the cluster at once. Nodes wait for those of Kubernetes; all other kinds are counted. */
type FactOf = {
  Volume: LonghornVolume;
  Replica: LonghornReplica;
  Engine: LonghornEngine;
  Snapshot: LonghornSnapshot;
  RecurringJob: RecurringJob;
  VolumeAttachment: LonghornAttachment;
  Backup: LonghornBackup;
  Orphan: LonghornOrphan;
  EngineImage: EngineImage;
  InstanceManager: InstanceManager;
  BackingImage: BackingImage;
};
type Kind = keyof FactOf;

const CONVERTERS: { readonly [Name in Kind]: (object: KubernetesObject, tell: Tell) => FactOf[Name] } = {
  Volume: toVolume,
  Replica: toReplica,
  Engine: toEngine,
  Snapshot: toSnapshot,
  RecurringJob: toRecurringJob,
  VolumeAttachment: toAttachment,
  Backup: toBackup,
  Orphan: toOrphan,
  EngineImage: toEngineImage,
  InstanceManager: toInstanceManager,
  BackingImage: toBackingImage,
};

/**
 * Makes a cluster of its objects, one at a time: of an object its facts are kept and no more, since the objects of a large cluster take
 * gigabytes.
 */
export class ClusterBuilder {
  private readonly seen = new Map<string, { place: string; digest: string }>();
  private readonly facts: { readonly [Name in Kind]: FactOf[Name][] } = {
    Volume: [],
    Replica: [],
    Engine: [],
    Snapshot: [],
    RecurringJob: [],
    VolumeAttachment: [],
    Backup: [],
    Orphan: [],
    EngineImage: [],
    InstanceManager: [],
    BackingImage: [],
  };
  private readonly nodes: KubernetesObject[] = [];
  private readonly kubernetesNodes = new Map<string, KubernetesObject>();
  private readonly settings = new Map<string, SettingText>();
  private readonly namespaces = new Map<string, number>();
  private readonly apiVersions = new Set<string>();
  private readonly otherKinds = new Map<string, number>();
  private version = '';

  constructor(private readonly tell: Tell) {}

  get objects(): number {
    return this.seen.size;
  }

  add(object: KubernetesObject): void {
    if (this.isRepeated(object)) return;
    const { group, type, name } = object;
    if (group === '' && type === 'Node') this.kubernetesNodes.set(name, object);
    if (group !== 'longhorn.io') {
      count(this.otherKinds, group === '' ? type : `${type}.${group}`);
      return;
    }
    this.apiVersions.add(object.apiVersion);
    if (object.namespace !== '') count(this.namespaces, object.namespace);
    if (isKind(type)) this.convert(type, object);
    else if (type === 'Node') this.nodes.push(object);
    else if (type === 'Setting') this.addSetting(object);
    else count(this.otherKinds, `${type}.${group}`);
  }

  build(): Read {
    const { facts } = this;
    return {
      namespace: mostFrequent(this.namespaces),
      version: this.version,
      apiVersions: [...this.apiVersions].sort(),
      nodes: this.nodes.map((object) => toNode(object, this.kubernetesNodes.get(object.name), this.tell)),
      volumes: facts.Volume,
      replicas: facts.Replica,
      engines: facts.Engine,
      snapshots: facts.Snapshot,
      settings: this.settings,
      recurringJobs: facts.RecurringJob,
      attachments: facts.VolumeAttachment,
      backups: facts.Backup,
      orphans: facts.Orphan,
      engineImages: facts.EngineImage,
      instanceManagers: facts.InstanceManager,
      backingImages: facts.BackingImage,
      otherKinds: this.otherKinds,
    };
  }

  private convert<Name extends Kind>(type: Name, object: KubernetesObject): void {
    this.facts[type].push(CONVERTERS[type](object, this.tell));
  }

  private addSetting(object: KubernetesObject): void {
    this.settings.set(object.name, toSettingText(object));
    if (object.name === 'current-longhorn-version') this.version = text(part(object.json), 'value');
  }

  /** A folder may hold an object twice, such as in a dump beside a bundle: the first is kept, and a differing second one is reported. */
  private isRepeated({ group, type, namespace, name, json, file, line }: KubernetesObject): boolean {
    const key = [group, type, namespace, name].join('/');
    const digest = crypto.createHash('sha1').update(JSON.stringify(json)).digest('base64');
    const known = this.seen.get(key);
    if (known === undefined) {
      this.seen.set(key, { place: `${file}:${line}`, digest });
      return false;
    }
    if (known.digest !== digest) {
      const message = `${type} ${name} is there twice and differs from the one in ${known.place}, which is used`;
      this.tell({ kind: 'problem', code: 'value', file, line, message });
    }
    return true;
  }
}

function isKind(type: string): type is Kind {
  return Object.hasOwn(CONVERTERS, type);
}

function mostFrequent(counts: ReadonlyMap<string, number>): string {
  const [first] = [...counts].sort(([, a], [, b]) => b - a);
  return first?.[0] ?? '';
}

function count(counts: Map<string, number>, one: string): void {
  counts.set(one, (counts.get(one) ?? 0) + 1);
}
