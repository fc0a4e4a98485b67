import type { StorageNode } from '../model/node.js';
import type { ClusterSettings } from '../settings/definitions.js';

/** Has the node's agent been heard of recently enough to count as alive? */
export function isAgentAlive(
  node: Pick<StorageNode, 'lastHeartbeatAt'>,
  settings: ClusterSettings,
  now: Date,
): boolean {
  if (node.lastHeartbeatAt === undefined) return false;
  return now.getTime() - node.lastHeartbeatAt.getTime() <= settings['agent-heartbeat-timeout'] * 1000;
}
