import type { Condition } from '../model/condition.js';
import type { ClusterSettings } from '../settings/definitions.js';

type NodeCondition = Omit<Condition<'Ready' | 'Schedulable'>, 'lastTransitionAt'>;

/** Does the node take new replicas, as far as cordoning goes? Longhorn's reason, so that its users know it. */
export function nodeSchedulableCondition(cordoned: boolean, settings: ClusterSettings): NodeCondition {
  if (cordoned && settings['disable-scheduling-on-cordoned-node']) {
    return {
      type: 'Schedulable',
      status: 'False',
      reason: 'KubernetesNodeCordoned',
      message: 'the node is cordoned',
    };
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

/** Of a node as it is stored, and as the API shows it. */
export function isNodeReady(node: {
  readonly conditions: readonly Pick<Condition, 'type' | 'status'>[];
}): boolean {
  return node.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
