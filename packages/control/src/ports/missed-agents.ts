import type { StorageNode } from '@holdfast/core/model/node.js';

/** `at`: when it was missed, by the clock that stamps heartbeats. */
export type MissedNode = { readonly node: StorageNode; readonly at: Date };

/**
 * What comes of asking an agent: it `answers`, whatever it says; its machine says twice, a moment apart, that nothing listens at its
 * address, so that it is `gone`; or nothing comes, and it may be cut off, stopped or without power: `silent`.
 */
export type AgentAnswer = 'answers' | 'gone' | 'silent';

/** What is known and can be asked of agents that have missed a heartbeat. */
export interface MissedAgents {
  /**
   * Nodes whose agents are to be asked (`isMissed`), at most `limit`: those that are not known to be unanswering first, then the one
   * that was heard last, then by id.
   */
  list(limit: number): Promise<MissedNode[]>;
  /** Ends within a few seconds, and never rejects. */
  ask(agent: Pick<StorageNode, 'controlUrl'>): Promise<AgentAnswer>;
  /** Notes that a missed agent gave no answer, unless that is known, or it was heard meanwhile (`isUnanswering`). */
  noteUnanswered(missed: MissedNode): Promise<void>;
}
