import { conditionOf } from '../model/condition.js';
import { isNodeReady, type StorageNode } from '../model/node.js';
import type { ClusterSettings } from '../model/setting.js';

/** When liveness is judged, and since when the judge (the database, else the worker) could have heard of heartbeats. */
export type Judging = { now: Date; since: Date };

/**
 * What is known of a node's agent: it is heard of; it has been silent for longer than its cluster allows; or its process was found to
 * be gone, and nothing has been heard of it since.
 */
export type AgentState = 'heard' | 'silent' | 'gone';

/** Reason of the condition Ready of a node whose agent was found to be gone. */
export const AGENT_GONE = 'AgentGone';

/** Silence after which an agent is asked whether it is there. Agents report every two seconds. */
export const MISSED_AFTER_MS = 2_500;

/**
 * Silence from before the judge's own start proves nothing: after a stop of everything the agents are about to come
 * back. A node that counted as alive keeps that until it has been silent for the whole timeout under the judge's eyes;
 * one that counted as dead has to be heard first.
 */
export function agentState(
  node: Pick<StorageNode, 'lastHeartbeatAt' | 'conditions'>,
  settings: ClusterSettings,
  { now, since }: Judging,
): AgentState {
  if (node.lastHeartbeatAt === undefined) return 'silent';
  const timeoutMs = settings['agent-heartbeat-timeout'] * 1000;
  // A stamp from the future says nothing; without this its node would be alive until then.
  const isBelievable = node.lastHeartbeatAt.getTime() - now.getTime() <= timeoutMs;
  const heardAtMs = isBelievable ? node.lastHeartbeatAt.getTime() : 0;
  if (heardAtMs <= foundGoneAtMs(node)) return 'gone';
  const silentSinceMs = isNodeReady(node) ? Math.max(heardAtMs, since.getTime()) : heardAtMs;
  return now.getTime() - silentSinceMs <= timeoutMs ? 'heard' : 'silent';
}

function foundGoneAtMs({ conditions }: Pick<StorageNode, 'conditions'>): number {
  const ready = conditionOf(conditions, 'Ready');
  return ready?.reason === AGENT_GONE ? ready.lastTransitionAt.getTime() : Number.NEGATIVE_INFINITY;
}

/** Is it time to ask this node's agent whether it is there? Only one that the judge itself has heard. */
export function isMissed(
  node: Pick<StorageNode, 'lastHeartbeatAt' | 'conditions'>,
  { now, since }: Judging,
): boolean {
  const heardAtMs = node.lastHeartbeatAt?.getTime() ?? 0;
  return isNodeReady(node) && heardAtMs >= since.getTime() && now.getTime() - heardAtMs >= MISSED_AFTER_MS;
}

/**
 * Was this node's agent missed and asked without an answer, and nothing heard of it since? Users are shown that; decisions wait
 * for the timeout.
 *
 * @param unansweredAt when it was missed by the look that asked it, by the clock that stamps heartbeats; `undefined`: never
 */
export function isUnanswering(
  { lastHeartbeatAt }: Pick<StorageNode, 'lastHeartbeatAt'>,
  unansweredAt: Date | undefined,
): boolean {
  if (unansweredAt === undefined || lastHeartbeatAt === undefined) return false;
  return unansweredAt.getTime() >= lastHeartbeatAt.getTime();
}
