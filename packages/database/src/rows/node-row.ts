import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';
import type { Labels } from '@holdfast/core/model/labels.js';
import type { NodeForget, NodeMaintenance, StorageNode } from '@holdfast/core/model/node.js';
import { asJson, columnsOf, type Table } from '../sql/table.js';
import { type DrainColumns, readDrain, readDrainStatus } from './drain-columns.js';
import {
  dateOrNull,
  type JsonRow,
  orUndefined,
  readConditions,
  readLabels,
  type Stored,
  type StoredCondition,
} from './json.js';

const column = columnsOf<StorageNode>();

export const NODES: Table<StorageNode> = {
  name: 'node',
  columns: [
    column('id', 'id'),
    column('clusterId', 'cluster_id'),
    column('name', 'name'),
    column('zone', 'zone'),
    column('region', 'region'),
    column('tags', 'tags'),
    column('labels', 'labels', asJson),
    column('allowScheduling', 'allow_scheduling'),
    column('cordoned', 'cordoned'),
    column('evictionRequested', 'eviction_requested'),
    column('maintenance', 'maintenance', asJson),
    column('drain', 'drain', asJson),
    column('drainStatus', 'drain_status', asJson),
    column('forget', 'forget', asJson),
    column('conditions', 'conditions', asJson),
    column('controlUrl', 'control_url'),
    column('nbdHost', 'nbd_host'),
    column('nbdPort', 'nbd_port'),
    column('bootId', 'boot_id'),
    column('lastHeartbeatAt', 'last_heartbeat_at'),
    column('returnedAt', 'returned_at'),
  ],
};

export type NodeRow = DrainColumns & {
  id: NodeId;
  cluster_id: ClusterId;
  name: string;
  zone: string | null;
  region: string | null;
  tags: string[];
  labels: Labels | null;
  allow_scheduling: boolean;
  cordoned: boolean;
  eviction_requested: boolean;
  maintenance: Stored<NodeMaintenance> | null;
  forget: Stored<NodeForget> | null;
  conditions: StoredCondition<'Ready' | 'Schedulable'>[];
  control_url: string | null;
  nbd_host: string | null;
  nbd_port: number | null;
  boot_id: string | null;
  last_heartbeat_at: Date | null;
  returned_at: Date | null;
  version: number;
};

export function readNode(row: NodeRow): StorageNode {
  return {
    id: row.id,
    clusterId: row.cluster_id,
    name: row.name,
    zone: orUndefined(row.zone),
    region: orUndefined(row.region),
    tags: row.tags,
    labels: readLabels(row.labels),
    allowScheduling: row.allow_scheduling,
    cordoned: row.cordoned,
    evictionRequested: row.eviction_requested,
    maintenance: readMaintenance(row.maintenance),
    drain: readDrain(row.drain),
    drainStatus: readDrainStatus(row.drain_status),
    forget: readForget(row.forget),
    conditions: readConditions(row.conditions),
    controlUrl: orUndefined(row.control_url),
    nbdHost: orUndefined(row.nbd_host),
    nbdPort: orUndefined(row.nbd_port),
    bootId: orUndefined(row.boot_id),
    lastHeartbeatAt: orUndefined(row.last_heartbeat_at),
    returnedAt: orUndefined(row.returned_at),
    version: row.version,
  };
}

export function readJsonNode(row: JsonRow<NodeRow>): StorageNode {
  return readNode({
    ...row,
    last_heartbeat_at: dateOrNull(row.last_heartbeat_at),
    returned_at: dateOrNull(row.returned_at),
  });
}

function readMaintenance(stored: NodeRow['maintenance']): NodeMaintenance | undefined {
  return stored === null ? undefined : { until: new Date(stored.until), reason: stored.reason };
}

function readForget(stored: NodeRow['forget']): NodeForget | undefined {
  if (stored === null) return undefined;
  return { requestedAt: new Date(stored.requestedAt), acceptedLosses: stored.acceptedLosses };
}
