import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';

/** A heartbeat, and the node that it is stored of. */
export type Report = { clusterId: ClusterId; nodeId: NodeId; heartbeat: Heartbeat; now: Date };
