/** The API's answers as the CLI reads them. */
export type Page<T> = { items: T[]; nextCursor: string | null };
export type ProblemBody = Partial<{
  code: string;
  title: string;
  detail: string;
  requestId: string;
  errors: { pointer: string; detail: string }[];
  cures: string[];
}>;
export type Condition = { type: string; status: string; reason: string; message: string };
export type Cluster = { id: string; name: string };
export type Node = {
  id: string;
  name: string;
  zone: string | null;
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
  tags: string[];
  allowScheduling: boolean;
  storageMaximum: number;
  storageAvailable: number;
  storageReserved: number;
  storageScheduled: number;
  conditions: Condition[];
};
export type Replica = {
  id: string;
  nodeId: string | null;
  diskId: string | null;
  zone: string | null;
  mode: string | null;
  state: string;
  healthyAt: string | null;
  failedAt: string | null;
};
export type Verification = {
  state: 'running' | 'done' | 'failed';
  equal: boolean | null;
  message: string;
  replicas: { replicaId: string; checksum: string | null; error: string | null }[];
};
export type Volume = {
  id: string;
  name: string;
  size: number;
  writtenBytes: number;
  numberOfReplicas: number;
  state: string;
  robustness: string;
  attachedNodeId: string | null;
  endpoint: { nbdUri: string } | null;
  attention: { code: string; message: string; cures: string[] } | null;
  conditions: Condition[];
  replicas: Replica[];
  createdAt: string;
};
export type Rebuild = {
  id: string;
  volumeId: string;
  targetReplicaId: string;
  targetNodeId: string;
  state: string;
  phase: string;
  queuePosition: number | null;
  waitingFor: string;
  percent: number;
  rateBytesPerSecond: number;
  bytes: { total: number; compared: number; skipped: number; sent: number; written: number };
  eta: { p50: string; p90: string } | null;
  startedAt: string | null;
  finishedAt: string | null;
  error: { code: string; message: string } | null;
};
export type Setting = {
  name: string;
  value: unknown;
  default: unknown;
  definition?: { description?: string; unit?: string };
};
export type ClusterEvent = {
  id: string;
  type: string;
  severity: string;
  message: string;
  at: string;
  volumeId: string | null;
};
