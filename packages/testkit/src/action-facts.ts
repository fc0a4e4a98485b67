/** Facts of a detached volume on two ready nodes, so that a test states only its subject. */
import type { ActionFacts } from '@holdfast/core/policy/action-facts.js';
import { testId } from './builders.js';

export const READY_NODES: ActionFacts['nodes'] = [
  { id: 'n1', name: 'node-1', isReady: true, isDraining: false, isClosed: false },
  { id: 'n2', name: 'node-2', isReady: true, isDraining: false, isClosed: false },
];
export const NODES_WITHOUT_FIRST: ActionFacts['nodes'] = READY_NODES.map((node) =>
  node.id === 'n1' ? { ...node, isReady: false } : node,
);

export function someActionFacts(part: Partial<ActionFacts> = {}): ActionFacts {
  return {
    id: testId(1),
    name: 'pg-data',
    state: 'detached',
    isDeleting: false,
    isBeingFilled: false,
    isRepairing: false,
    isBeingVerified: false,
    attachment: undefined,
    attachedNodeId: undefined,
    task: undefined,
    clonedSnapshotIds: [],
    servingNodeIds: undefined,
    nodes: READY_NODES,
    ...part,
  };
}

/** Differences while it is attached on the first of them. */
export const ATTACHED = {
  state: 'attached',
  attachment: { nodeId: 'n1' },
  attachedNodeId: 'n1',
} as const satisfies Partial<ActionFacts>;

/** Differences while the worker holds it there to rebuild missing copies. */
export const REPAIRING = { ...ATTACHED, isRepairing: true } as const satisfies Partial<ActionFacts>;

/** Differences of a clone that the worker fills there. */
export const FILLING = { ...ATTACHED, isBeingFilled: true } as const satisfies Partial<ActionFacts>;
