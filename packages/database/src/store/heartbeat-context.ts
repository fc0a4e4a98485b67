import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import type { WakeUpSet } from './wake-up-set.js';

/** The sender, and what its report changes. */
export type HeartbeatContext = {
  readonly sql: Sql;
  readonly clusterId: ClusterId;
  readonly nodeId: NodeId;
  readonly heartbeat: Heartbeat;
  readonly now: Date;
  readonly touched: WakeUpSet;
};
