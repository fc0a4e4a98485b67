/**
 * Changes that open a node to replicas again by undoing one thing that a user wanted of it. Each is a cure of its own kind:
 * what it is called, and the node as it is once the change is made.
 */
import type { StorageNode } from '../../model/node.js';

type NodeSwitch = {
  /** As the beginning of a sentence. */
  text(nodeName: string): string;
  readonly undone: Partial<StorageNode>;
};

export const NODE_SWITCHES = {
  // Uncordoning a node ends its drain.
  'uncordon-node': {
    text: (name) => `uncordon node ${name}`,
    undone: { cordoned: false, drain: undefined, drainStatus: undefined },
  },
  'enable-node-scheduling': {
    text: (name) => `allow scheduling on node ${name}`,
    undone: { allowScheduling: true },
  },
  'cancel-node-eviction': {
    text: (name) => `cancel the eviction of node ${name}`,
    undone: { evictionRequested: false },
  },
  'end-node-maintenance': {
    text: (name) => `end the maintenance of node ${name}`,
    undone: { maintenance: undefined },
  },
} as const satisfies Record<string, NodeSwitch>;

export type NodeSwitchKind = keyof typeof NODE_SWITCHES;

export function isNodeSwitch<T extends { readonly kind: string }>(
  change: T,
): change is Extract<T, { readonly kind: NodeSwitchKind }> {
  return Object.hasOwn(NODE_SWITCHES, change.kind);
}
