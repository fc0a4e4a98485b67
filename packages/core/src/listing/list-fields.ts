/** Fields by which the lists of volumes and of events are filtered and sorted: the API's names, which the console completes. */
import type { FieldTypes } from './filter.js';

export const VOLUME_FIELDS = {
  id: 'id',
  name: 'text',
  state: 'text',
  robustness: 'text',
  size: 'number',
  numberOfReplicas: 'number',
  dataEngine: 'text',
  projectId: 'id',
  clusterId: 'id',
  attachedNodeId: 'id',
  writtenBytes: 'number',
  createdAt: 'time',
  labels: 'labels',
  sourceVolumeId: 'id',
  'replicas.nodeId': 'ids',
  'replicas.diskId': 'ids',
  /** A copy of it has no place. */
  unplaced: 'boolean',
  /** Fields by which it answers for itself what its cluster's settings say otherwise. */
  overrides: 'texts',
  /** Larger is worse; 4: its serving node does not answer. */
  risk: 'number',
} as const satisfies FieldTypes;

export const EVENT_FIELDS = {
  id: 'number',
  type: 'text',
  severity: 'text',
  subjectKind: 'text',
  subjectId: 'text',
  clusterId: 'id',
  nodeId: 'id',
  projectId: 'id',
  volumeId: 'id',
  at: 'time',
  /** Number of the event that it follows from; 0: of none. */
  causeId: 'number',
} as const satisfies FieldTypes;
