import type { Condition } from '../model/condition.js';
import type { StorageNode } from '../model/node.js';
import type { ClusterSettings } from '../model/setting.js';
import { maintenanceText } from './node-events.js';

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

export function nodeReadyCondition(isAlive: boolean, name: string): NodeCondition {
  if (isAlive) return { type: 'Ready', status: 'True', reason: '', message: '' };
  return {
    type: 'Ready',
    status: 'False',
    reason: 'AgentSilent',
    message: `no heartbeat from the agent on ${name}`,
  };
}
