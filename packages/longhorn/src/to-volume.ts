import type { DataEngine } from '@holdfast/core/model/node.js';
import { z } from 'zod';
import type { LonghornReplica, LonghornVolume, OwnAnswer } from './model.js';
import { conditions, type Fields, flag, isBeingDeleted, part, text, texts, whole } from './reading/fields.js';
import type { Tell } from './reading/problem.js';
import type { KubernetesObject } from './reading/read-objects.js';

export function toVolume(object: KubernetesObject, tell: Tell): LonghornVolume {
  const { name, json, file, line } = object;
  const spec = part(json, 'spec');
  const status = part(json, 'status');
  const problem = problemOf(object, tell);
  const locality = text(spec, 'dataLocality');
  const claim = part(status, 'kubernetesStatus');
  return {
    name,
    at: { file, line },
    sizeBytes: whole(spec, 'size', problem),
    actualBytes: whole(status, 'actualSize', problem),
    numberOfReplicas: whole(spec, 'numberOfReplicas', problem),
    dataEngine: dataEngine(spec),
    // Up to 1.8 `engineImage`; a volume that has run names its image.
    image: text(status, 'currentImage') || text(spec, 'image', 'engineImage'),
    frontend: text(spec, 'frontend'),
    accessMode: text(spec, 'accessMode') || 'rwo',
    nodeSelector: texts(spec, 'nodeSelector'),
    diskSelector: texts(spec, 'diskSelector'),
    dataLocality: locality === 'best-effort' || locality === 'strict-local' ? locality : 'disabled',
    replicaSoftAntiAffinity: ownAnswer(spec, 'replicaSoftAntiAffinity'),
    replicaZoneSoftAntiAffinity: ownAnswer(spec, 'replicaZoneSoftAntiAffinity'),
    replicaDiskSoftAntiAffinity: ownAnswer(spec, 'replicaDiskSoftAntiAffinity'),
    replicaAutoBalance: text(spec, 'replicaAutoBalance') || 'ignored',
    topology: terms(spec),
    backingImage: text(spec, 'backingImage'),
    linkedCloneOf: linkedCloneOf(spec),
    isSharded: text(part(spec, 'dataLayout'), 'type') === 'sharded',
    state: text(status, 'state'),
    robustness: text(status, 'robustness'),
    lastDegradedAt: text(status, 'lastDegradedAt'),
    nodeName: text(status, 'currentNodeID') || text(spec, 'nodeID'),
    claim:
      text(claim, 'pvcName') === ''
        ? undefined
        : { namespace: text(claim, 'namespace'), name: text(claim, 'pvcName') },
    conditions: conditions(status),
    isDeleting: isBeingDeleted(object),
  };
}

export function toReplica(object: KubernetesObject, tell: Tell): LonghornReplica {
  const { name, json, file, line } = object;
  const spec = part(json, 'spec');
  const status = part(json, 'status');
  const problem = problemOf(object, tell);
  return {
    name,
    at: { file, line },
    volumeName: text(spec, 'volumeName') || text(part(json, 'metadata', 'labels'), 'longhornvolume'),
    sizeBytes: whole(spec, 'volumeSize', problem),
    nodeName: text(spec, 'nodeID'),
    diskUuid: text(spec, 'diskID'),
    diskPath: text(spec, 'diskPath'),
    healthyAt: text(spec, 'healthyAt'),
    failedAt: text(spec, 'failedAt'),
    // Left out where an older release did not know it: then every replica is.
    isActive: spec.active !== false,
    // Up to 1.4 the status said so, and until 1.9 it might.
    evictionRequested: flag(spec, 'evictionRequested') || flag(status, 'evictionRequested'),
    isDeleting: isBeingDeleted(object),
    rebuildRetryCount: whole(spec, 'rebuildRetryCount', problem),
    hardNodeAffinity: text(spec, 'hardNodeAffinity'),
    linkedCloneSource: text(spec, 'linkedCloneSrcReplicaName'),
    state: text(status, 'currentState'),
    conditions: conditions(status),
  };
}

/** `backendStoreDriver` from 1.5 to 1.8, beside `dataEngine` from 1.6; before there was one engine. */
export function dataEngine(spec: Fields): DataEngine {
  return text(spec, 'dataEngine', 'backendStoreDriver') === 'v2' ? 'v2' : 'v1';
}

function ownAnswer(spec: Fields, field: string): OwnAnswer {
  const value = text(spec, field);
  return value === 'enabled' || value === 'disabled' ? value : 'ignored';
}

const termList = z.array(z.record(z.string(), z.unknown()));

function terms(spec: Fields): LonghornVolume['topology'] {
  const list = termList.safeParse(spec.topologyRequirement).data ?? [];
  return list.map((term) => ({ zone: text(term, 'zone'), region: text(term, 'region') }));
}

/** The source is a text such as `vol://<volume>` or `snap://<volume>/<snapshot>`. */
function linkedCloneOf(spec: Fields): string {
  if (text(spec, 'cloneMode') !== 'linked-clone') return '';
  return /^(?:vol|snap):\/\/([^/]+)/.exec(text(spec, 'dataSource'))?.[1] ?? '';
}

function problemOf({ type, name, file, line }: KubernetesObject, tell: Tell): (message: string) => void {
  return (message) =>
    tell({ kind: 'problem', code: 'value', file, line, message: `${type} ${name}: ${message}` });
}
