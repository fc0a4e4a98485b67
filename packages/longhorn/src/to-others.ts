/** Kinds of which few fields are read. */

import type {
  BackingImage,
  EngineImage,
  InstanceManager,
  LonghornAttachment,
  LonghornBackup,
  LonghornEngine,
  LonghornOrphan,
  LonghornSnapshot,
  RecurringJob,
  SettingText,
} from './model.js';
import { entries, flag, part, text, texts, whole } from './reading/fields.js';
import type { Tell } from './reading/problem.js';
import type { KubernetesObject } from './reading/read-objects.js';
import { parseEngineTexts } from './setting-texts.js';
import { dataEngine } from './to-volume.js';

function named({ name, file, line }: KubernetesObject) {
  return { name, at: { file, line } };
}

function parts({ json }: KubernetesObject) {
  return { spec: part(json, 'spec'), status: part(json, 'status') };
}

function problemOf({ type, name, file, line }: KubernetesObject, tell: Tell): (message: string) => void {
  return (message) =>
    tell({ kind: 'problem', code: 'value', file, line, message: `${type} ${name}: ${message}` });
}

export function toEngine(object: KubernetesObject): LonghornEngine {
  const { spec, status } = parts(object);
  const modes = part(status, 'replicaModeMap');
  return {
    ...named(object),
    volumeName: text(spec, 'volumeName'),
    nodeName: text(spec, 'nodeID'),
    isActive: spec.active !== false,
    image: text(status, 'currentImage') || text(spec, 'image', 'engineImage'),
    state: text(status, 'currentState'),
    modes: new Map(Object.keys(modes).map((replica) => [replica, text(modes, replica)])),
    lastExpansionError: text(status, 'lastExpansionError'),
  };
}

export function toSnapshot(object: KubernetesObject, tell: Tell): LonghornSnapshot {
  const { spec, status } = parts(object);
  return {
    ...named(object),
    volumeName: text(spec, 'volume'),
    parent: text(status, 'parent'),
    createdAt: text(status, 'creationTime'),
    sizeBytes: whole(status, 'size', problemOf(object, tell)),
    isRemoved: flag(status, 'markRemoved'),
    isReady: flag(status, 'readyToUse'),
  };
}

/** A setting's value stands at the top of the object, not in its spec. */
export function toSettingText(object: KubernetesObject): SettingText {
  return { ...parseEngineTexts(text(object.json, 'value')), at: named(object).at };
}

export function toRecurringJob(object: KubernetesObject, tell: Tell): RecurringJob {
  const { spec } = parts(object);
  return {
    ...named(object),
    task: text(spec, 'task'),
    cron: text(spec, 'cron'),
    retain: whole(spec, 'retain', problemOf(object, tell)),
    groups: texts(spec, 'groups'),
  };
}

export function toAttachment(object: KubernetesObject): LonghornAttachment {
  const { spec, status } = parts(object);
  const answers = part(status, 'attachmentTicketStatuses');
  return {
    ...named(object),
    volumeName: text(spec, 'volume'),
    tickets: entries(part(spec, 'attachmentTickets')).map(([id, ticket]) => ({
      id,
      type: text(ticket, 'type'),
      nodeName: text(ticket, 'nodeID'),
      isSatisfied: flag(part(answers, id), 'satisfied'),
    })),
  };
}

export function toBackup(object: KubernetesObject, tell: Tell): LonghornBackup {
  const { spec, status } = parts(object);
  return {
    ...named(object),
    volumeName: text(status, 'volumeName') || text(part(object.json, 'metadata', 'labels'), 'backup-volume'),
    snapshotName: text(status, 'snapshotName') || text(spec, 'snapshotName'),
    state: text(status, 'state'),
    createdAt: text(status, 'backupCreatedAt'),
    sizeBytes: whole(status, 'size', problemOf(object, tell)),
  };
}

export function toOrphan(object: KubernetesObject): LonghornOrphan {
  const { spec } = parts(object);
  const parameters = part(spec, 'parameters');
  return {
    ...named(object),
    type: text(spec, 'orphanType'),
    nodeName: text(spec, 'nodeID'),
    diskUuid: text(parameters, 'DiskUUID'),
    dataName: text(parameters, 'DataName', 'InstanceName'),
  };
}

export function toEngineImage(object: KubernetesObject): EngineImage {
  const { spec, status } = parts(object);
  const deployed = part(status, 'nodeDeploymentMap');
  return {
    ...named(object),
    image: text(spec, 'image'),
    deployedOn: new Set(Object.keys(deployed).filter((node) => flag(deployed, node))),
  };
}

export function toInstanceManager(object: KubernetesObject): InstanceManager {
  const { spec, status } = parts(object);
  return {
    ...named(object),
    nodeName: text(spec, 'nodeID'),
    type: text(spec, 'type'),
    dataEngine: dataEngine(spec),
    state: text(status, 'currentState'),
  };
}

export function toBackingImage(object: KubernetesObject): BackingImage {
  const { spec } = parts(object);
  return {
    ...named(object),
    nodeSelector: texts(spec, 'nodeSelector'),
    diskSelector: texts(spec, 'diskSelector'),
  };
}
