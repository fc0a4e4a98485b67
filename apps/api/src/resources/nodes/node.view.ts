import type { StorageDisk, StorageNode } from '@holdfast/core/model/node.js';
import { isEvictingPolicy } from '@holdfast/core/model/node-drain.js';
import { shownNodeConditions } from '@holdfast/core/policy/node-conditions.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import type { NodeWithStorage } from '@holdfast/database/queries/nodes.js';
import type { z } from 'zod';
import { conditionView, isoOrNull } from '../../http/schemas.js';
import { nodeDrainView } from './drain.view.js';
import type { diskSchema, nodeSchema } from './node.schemas.js';

export type NodeView = z.infer<typeof nodeSchema>;
export type DiskView = z.infer<typeof diskSchema>;

/** The agent's control address stays inside: only the worker and other agents use it. */
export function nodeView({ node, pid, agentVersion, unansweredAt, ...sums }: NodeWithStorage): NodeView {
  return {
    id: node.id,
    clusterId: node.clusterId,
    name: node.name,
    zone: node.zone ?? null,
    region: node.region ?? null,
    tags: [...node.tags],
    labels: { ...node.labels },
    allowScheduling: node.allowScheduling,
    cordoned: node.cordoned,
    evictionRequested: node.evictionRequested,
    maintenance: maintenanceView(node.maintenance),
    drain: nodeDrainView(node),
    forget: forgetView(node.forget),
    autoEvicting: node.drain !== undefined && isEvictingPolicy(node.drain.policy),
    conditions: shownNodeConditions(node, unansweredAt).map(conditionView),
    nbdHost: node.nbdHost ?? null,
    nbdPort: node.nbdPort ?? null,
    pid: pid ?? null,
    agentVersion: agentVersion ?? null,
    lastHeartbeatAt: isoOrNull(node.lastHeartbeatAt),
    ...sums,
    version: node.version,
  };
}

function maintenanceView(window: StorageNode['maintenance']): NodeView['maintenance'] {
  return window === undefined ? null : { until: window.until.toISOString(), reason: window.reason };
}

function forgetView(forget: StorageNode['forget']): NodeView['forget'] {
  if (forget === undefined) return null;
  return { requestedAt: forget.requestedAt.toISOString(), acceptedLosses: [...forget.acceptedLosses] };
}

export function diskView(disk: StorageDisk): DiskView {
  return {
    id: disk.id,
    nodeId: disk.nodeId,
    name: disk.name,
    path: disk.path,
    type: disk.type,
    fileSystem: disk.fileSystem,
    tags: [...disk.tags],
    labels: { ...disk.labels },
    allowScheduling: disk.allowScheduling,
    evictionRequested: disk.evictionRequested,
    storageReserved: disk.storageReservedBytes,
    storageMaximum: disk.storageMaximumBytes,
    storageAvailable: disk.storageAvailableBytes,
    storageScheduled: disk.storageScheduledBytes,
    writtenBytes: disk.writtenBytes,
    conditions: disk.conditions.map(conditionView),
    answers: answersView(disk.answers),
    addedAt: disk.addedAt?.toISOString() ?? null,
    removalRequestedAt: disk.removalRequestedAt?.toISOString() ?? null,
    version: disk.version,
  };
}

/** A call that was pending then is still pending: its end is reported at once. */
function answersView(answers: StorageDisk['answers']): DiskView['answers'] {
  if (answers === undefined) return null;
  const { at, oldestMs, ...times } = answers;
  const sinceMs = Math.max(0, systemClock.now().getTime() - at.getTime());
  return { ...times, oldestMs: oldestMs === 0 ? 0 : oldestMs + sinceMs, at: at.toISOString() };
}
