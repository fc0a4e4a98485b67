import type { Condition } from '../model/condition.js';
import { isNodeReady, type StorageNode } from '../model/node.js';
import type { ClusterSettings } from '../model/setting.js';
import { maintenanceText } from './node-events.js';
import { AGENT_GONE, type AgentState, isUnanswering } from './node-liveness.js';

type NodeCondition = Omit<Condition<'Ready' | 'Schedulable'>, 'lastTransitionAt'>;

/**
 * Does the node take new replicas, as far as cordons and maintenance go? A cordon comes first, since it has no end, and has
 * Longhorn's reason, so that its users know it.
 */
export function nodeSchedulableCondition(
  {
    cordoned,
    maintenance,
    drain,
  }: Pick<StorageNode, 'cordoned' | 'maintenance'> & Partial<Pick<StorageNode, 'drain'>>,
  settings: ClusterSettings,
): NodeCondition {
  if (cordoned && settings['disable-scheduling-on-cordoned-node']) {
    return {
      type: 'Schedulable',
      status: 'False',
      reason: 'KubernetesNodeCordoned',
      message: 'the node is cordoned',
    };
  }
  if (drain !== undefined) {
    return { type: 'Schedulable', status: 'False', reason: 'NodeDraining', message: 'the node is drained' };
  }
  if (maintenance !== undefined) {
    const message = `the node is ${maintenanceText(maintenance)}`;
    return { type: 'Schedulable', status: 'False', reason: 'NodeMaintenance', message };
  }
  return { type: 'Schedulable', status: 'True', reason: '', message: '' };
}

export function nodeReadyCondition(agent: AgentState, name: string): NodeCondition {
  if (agent === 'heard') return { type: 'Ready', status: 'True', reason: '', message: '' };
  if (agent === 'gone') {
    const message = `nothing listens at the address of the agent on ${name}`;
    return { type: 'Ready', status: 'False', reason: AGENT_GONE, message };
  }
  return {
    type: 'Ready',
    status: 'False',
    reason: 'AgentSilent',
    message: `no heartbeat from the agent on ${name}`,
  };
}

/**
 * A node's conditions as users see them: those that are stored, and `Answering`, `False`, while its agent is unanswering and the
 * node is still ready. Of one that is not ready the condition `Ready` says it.
 */
export function shownNodeConditions(
  node: Pick<StorageNode, 'name' | 'conditions' | 'lastHeartbeatAt'>,
  unansweredAt: Date | undefined,
): readonly Condition[] {
  if (unansweredAt === undefined || !isNodeReady(node) || !isUnanswering(node, unansweredAt))
    return node.conditions;
  const message = `the agent on ${node.name} has missed a heartbeat, and does not answer`;
  const answering = { type: 'Answering', status: 'False', reason: 'AgentUnanswering', message } as const;
  return [{ ...answering, lastTransitionAt: unansweredAt }, ...node.conditions];
}
