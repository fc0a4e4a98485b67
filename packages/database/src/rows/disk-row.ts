import type { DiskAnswerTimes } from '@holdfast/core/model/disk-answers.js';
import type { DiskRivals, DiskStamp } from '@holdfast/core/model/disk-stamp.js';
import type { DiskId, NodeId } from '@holdfast/core/model/ids.js';
import type { Labels } from '@holdfast/core/model/labels.js';
import type { DiskConditionType, StorageDisk } from '@holdfast/core/model/node.js';
import { asJson, columnsOf, type Table } from '../sql/table.js';
import {
  dateOrNull,
  type JsonRow,
  orUndefined,
  readConditions,
  readLabels,
  type StoredCondition,
} from './json.js';

const column = columnsOf<StorageDisk>();

export const DISKS: Table<StorageDisk> = {
  name: 'disk',
  columns: [
    column('id', 'id'),
    column('nodeId', 'node_id'),
    column('name', 'name'),
    column('path', 'path'),
    column('type', 'type'),
    column('fileSystem', 'file_system'),
    column('tags', 'tags'),
    column('labels', 'labels', asJson),
    column('allowScheduling', 'allow_scheduling'),
    column('evictionRequested', 'eviction_requested'),
    column('storageReservedBytes', 'storage_reserved_bytes'),
    column('storageMaximumBytes', 'storage_maximum_bytes'),
    column('storageAvailableBytes', 'storage_available_bytes'),
    column('storageScheduledBytes', 'storage_scheduled_bytes'),
    column('writtenBytes', 'written_bytes'),
    column('conditions', 'conditions', asJson),
    column('pressedAt', 'pressed_at'),
    column('addedAt', 'added_at'),
    column('configuredBytes', 'configured_bytes'),
    column('removalRequestedAt', 'removal_requested_at'),
    column('stamp', 'stamp', asJson),
    column('acceptedNodeId', 'accepted_node_id'),
    column('rivals', 'rivals', asJson),
    column('duplicateOf', 'duplicate_of'),
    column('answers', 'answers', asJson),
  ],
};

export type DiskRow = {
  id: DiskId;
  node_id: NodeId;
  name: string;
  path: string;
  type: StorageDisk['type'];
  file_system: string;
  tags: string[];
  labels: Labels | null;
  allow_scheduling: boolean;
  eviction_requested: boolean;
  storage_reserved_bytes: number;
  storage_maximum_bytes: number;
  storage_available_bytes: number;
  storage_scheduled_bytes: number;
  written_bytes: number;
  conditions: StoredCondition<DiskConditionType>[];
  pressed_at: Date | null;
  added_at: Date | null;
  configured_bytes: number | null;
  removal_requested_at: Date | null;
  stamp: DiskStamp | null;
  accepted_node_id: NodeId | null;
  rivals: DiskRivals | null;
  duplicate_of: DiskId | null;
  answers: (DiskAnswerTimes & { at: string }) | null;
  version: number;
};

export function readDisk(row: DiskRow): StorageDisk {
  return {
    id: row.id,
    nodeId: row.node_id,
    name: row.name,
    path: row.path,
    type: row.type,
    fileSystem: row.file_system,
    tags: row.tags,
    labels: readLabels(row.labels),
    allowScheduling: row.allow_scheduling,
    evictionRequested: row.eviction_requested,
    storageReservedBytes: row.storage_reserved_bytes,
    storageMaximumBytes: row.storage_maximum_bytes,
    storageAvailableBytes: row.storage_available_bytes,
    storageScheduledBytes: row.storage_scheduled_bytes,
    writtenBytes: row.written_bytes,
    conditions: readConditions(row.conditions),
    pressedAt: orUndefined(row.pressed_at),
    addedAt: orUndefined(row.added_at),
    configuredBytes: orUndefined(row.configured_bytes),
    removalRequestedAt: orUndefined(row.removal_requested_at),
    stamp: orUndefined(row.stamp),
    acceptedNodeId: orUndefined(row.accepted_node_id),
    rivals: orUndefined(row.rivals),
    duplicateOf: orUndefined(row.duplicate_of),
    answers: row.answers === null ? undefined : { ...row.answers, at: new Date(row.answers.at) },
    version: row.version,
  };
}

export function readJsonDisk(row: JsonRow<DiskRow>): StorageDisk {
  return readDisk({
    ...row,
    pressed_at: dateOrNull(row.pressed_at),
    added_at: dateOrNull(row.added_at),
    removal_requested_at: dateOrNull(row.removal_requested_at),
  });
}
