import type { LonghornDisk, LonghornNode } from './model.js';
import {
  conditionOf,
  conditions,
  entries,
  type Fields,
  flag,
  isBeingDeleted,
  part,
  text,
  texts,
  whole,
} from './reading/fields.js';
import type { Tell } from './reading/problem.js';
import type { KubernetesObject } from './reading/read-objects.js';

/** @param kubernetes the node of the same name in the core group, where it was read */
export function toNode(
  object: KubernetesObject,
  kubernetes: KubernetesObject | undefined,
  tell: Tell,
): LonghornNode {
  const { name, json, file, line } = object;
  const spec = part(json, 'spec');
  const status = part(json, 'status');
  const found = conditions(status);
  const reason = conditionOf(found, 'Schedulable')?.reason;
  const labels = kubernetes === undefined ? {} : part(kubernetes.json, 'metadata', 'labels');
  const isUnschedulable = kubernetes !== undefined && flag(part(kubernetes.json, 'spec'), 'unschedulable');
  const problem = (message: string) =>
    tell({ kind: 'problem', code: 'value', file, line, message: `node ${name}: ${message}` });
  return {
    name,
    at: { file, line },
    zone: text(status, 'zone'),
    region: text(status, 'region'),
    tags: texts(spec, 'tags'),
    allowScheduling: flag(spec, 'allowScheduling'),
    evictionRequested: flag(spec, 'evictionRequested'),
    isDeleting: isBeingDeleted(object),
    isCordoned: isUnschedulable || reason === 'KubernetesNodeCordoned',
    isV2Disabled: flag(labels, 'node.longhorn.io/disable-v2-data-engine'),
    conditions: found,
    disks: disksOf(name, spec, status, problem),
  };
}

/** Disks of spec and status, which are joined by the name that users gave them on that node. */
function disksOf(
  nodeName: string,
  spec: Fields,
  status: Fields,
  problem: (message: string) => void,
): LonghornDisk[] {
  const wanted = new Map(entries(part(spec, 'disks')));
  const seen = new Map(entries(part(status, 'diskStatus')));
  return [...new Set([...wanted.keys(), ...seen.keys()])].map((name) => {
    const ofSpec = wanted.get(name) ?? {};
    const ofStatus = seen.get(name) ?? {};
    const bytes = (fields: Fields, field: string) =>
      whole(fields, field, (message) => problem(`disk ${name}: ${message}`));
    const sizes = (field: string) => {
      const fields = part(ofStatus, field);
      return new Map(Object.keys(fields).map((key) => [key, bytes(fields, key)]));
    };
    return {
      nodeName,
      name,
      uuid: text(ofStatus, 'diskUUID'),
      path: text(ofSpec, 'path') || text(ofStatus, 'diskPath'),
      // Before 1.5 there were only file systems, and the field was not there.
      type:
        text(ofSpec, 'diskType') === 'block' || text(ofStatus, 'diskType') === 'block'
          ? 'block'
          : 'filesystem',
      fileSystem: text(ofStatus, 'filesystemType'),
      tags: texts(ofSpec, 'tags'),
      allowScheduling: flag(ofSpec, 'allowScheduling'),
      evictionRequested: flag(ofSpec, 'evictionRequested'),
      isMissingFromSpec: !wanted.has(name),
      reservedBytes: bytes(ofSpec, 'storageReserved'),
      maximumBytes: bytes(ofStatus, 'storageMaximum'),
      availableBytes: bytes(ofStatus, 'storageAvailable'),
      scheduledBytes: bytes(ofStatus, 'storageScheduled'),
      scheduledReplicas: sizes('scheduledReplica'),
      scheduledBackingImages: sizes('scheduledBackingImage'),
      conditions: conditions(ofStatus),
    };
  });
}
