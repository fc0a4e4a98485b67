import { isNodeReady, type StorageNode } from '../model/node.js';
import type { ClusterSettings } from '../model/setting.js';

/** When liveness is judged, and since when the judge (the database, else the worker) could have heard of heartbeats. */
export type Judging = { now: Date; since: Date };

/**
 * Has the node's agent been heard of recently enough to count as alive?
 *
 * Silence from before the judge's own start proves nothing: after a stop of everything the agents are about to come
 * back. A node that counted as alive keeps that until it has been silent for the whole timeout under the judge's eyes;
 * one that counted as dead has to be heard first.
 */
export function isAgentAlive(
  node: Pick<StorageNode, 'lastHeartbeatAt' | 'conditions'>,
  settings: ClusterSettings,
  { now, since }: Judging,
): boolean {
  if (node.lastHeartbeatAt === undefined) return false;
  const timeoutMs = settings['agent-heartbeat-timeout'] * 1000;
  // A stamp from the future says nothing; without this its node would be alive until then.
  const isBelievable = node.lastHeartbeatAt.getTime() - now.getTime() <= timeoutMs;
  const heardAtMs = isBelievable ? node.lastHeartbeatAt.getTime() : 0;
  const silentSinceMs = isNodeReady(node) ? Math.max(heardAtMs, since.getTime()) : heardAtMs;
  return now.getTime() - silentSinceMs <= timeoutMs;
}
