/** The API's answers as the console reads them (CONTRACT.md; the OpenAPI document has every field). */
export type Page<T> = { items: T[]; nextCursor: string | null };
export type Condition = {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  lastTransitionAt: string;
};
export type Cluster = { id: string; name: string };

export type StorageNode = {
  id: string;
  name: string;
  zone: string | null;
  region: string | null;
  tags: string[];
  allowScheduling: boolean;
  cordoned: boolean;
  conditions: Condition[];
  lastHeartbeatAt: string | null;
};

export type Disk = {
  id: string;
  nodeId: string;
  name: string;
  path: string;
  type: string;
  tags: string[];
  allowScheduling: boolean;
  storageReserved: number;
  storageMaximum: number;
  storageAvailable: number;
  storageScheduled: number;
  conditions: Condition[];
};

export type ReplicaState = 'running' | 'stopped' | 'rebuilding' | 'failed';
export type Replica = {
  id: string;
  nodeId: string | null;
  diskId: string | null;
  zone: string | null;
  mode: 'RW' | 'WO' | 'ERR' | null;
  state: ReplicaState;
  healthyAt: string | null;
  failedAt: string | null;
  failure: { reason: string; message: string } | null;
};

export type VolumeState = 'creating' | 'detached' | 'attaching' | 'attached' | 'detaching' | 'deleting';
export type Robustness = 'healthy' | 'degraded' | 'faulted' | 'unknown';
export type VolumeVerification = {
  state: 'running' | 'done' | 'failed';
  equal: boolean | null;
  message: string;
  finishedAt: string | null;
  replicas: { replicaId: string; checksum: string | null; error: string | null }[];
};

export type Volume = {
  id: string;
  name: string;
  size: number;
  writtenBytes: number;
  numberOfReplicas: number;
  dataEngine: string;
  state: VolumeState;
  robustness: Robustness;
  attachedNodeId: string | null;
  endpoint: { nbdUri: string } | null;
  attention: { code: string; message: string; cures: string[]; since: string } | null;
  conditions: Condition[];
  replicas: Replica[];
  verification: VolumeVerification | null;
  createdAt: string;
};

export type RebuildState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
export type Rebuild = {
  id: string;
  volumeId: string;
  targetReplicaId: string;
  targetNodeId: string;
  state: RebuildState;
  phase: string;
  queuePosition: number | null;
  waitingFor: string;
  percent: number;
  rateBytesPerSecond: number;
  bytes: { total: number; compared: number; skipped: number; sent: number; written: number };
  eta: { p50: string; p90: string } | null;
  snapshots: { name: string; method: string; reason: string; bytesSent: number }[];
  attempts: number;
  queuedAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  error: { code: string; message: string } | null;
};

export type ClusterEvent = {
  id: string;
  type: string;
  severity: 'info' | 'warning' | 'error';
  subject: { kind: string; id: string };
  volumeId: string | null;
  message: string;
  at: string;
};
