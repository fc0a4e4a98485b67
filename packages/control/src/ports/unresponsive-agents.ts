import type { StorageNode } from '@holdfast/core/model/node.js';

/** `at`: when it was missed, by the clock that stamps heartbeats. */
export type UnresponsiveNode = { readonly node: StorageNode; readonly at: Date };

/**
 * Result of probing an agent: it `answers`, whatever the content; its machine refuses connections twice, a moment apart, so it is
 * `gone`; or no answer comes, and it may be cut off, stopped or without power: `silent`.
 */
export type AgentAnswer = 'answers' | 'gone' | 'silent';

/** Access to agents that have missed a heartbeat. */
export interface UnresponsiveAgents {
  /**
   * Nodes whose agents are to be queried (`isMissed`), at most `limit`: first those not yet known as unresponsive, then the latest
   * heartbeat, then by id.
   */
  list(limit: number): Promise<UnresponsiveNode[]>;
  /** Ends within a few seconds, and never rejects. */
  ask(agent: Pick<StorageNode, 'controlUrl'>): Promise<AgentAnswer>;
  /** Notes that a missed agent gave no answer, unless that is known, or it was heard meanwhile (`isUnanswering`). */
  noteUnanswered(missed: UnresponsiveNode): Promise<void>;
}
