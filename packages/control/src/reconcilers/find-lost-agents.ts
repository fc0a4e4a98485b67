/**
 * Asks the agents that have missed a heartbeat. One whose machine says that nothing listens at its address is gone, and with it
 * what its node served: the node is not ready from then on, without the rest of `agent-heartbeat-timeout`
 * (docs/adr/0301-an-agent-that-is-gone-is-not-waited-for.md). Of one that says nothing either, only time tells: it is noted as
 * unanswering, which users see and nothing is decided by (docs/adr/0310-a-silent-machine-is-shown-before-it-is-judged.md).
 */
import { withCondition } from '@holdfast/core/model/condition.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { NodeId } from '@holdfast/core/model/ids.js';
import { nodeReadyCondition } from '@holdfast/core/policy/node-conditions.js';
import { readinessEvent } from '@holdfast/core/policy/node-events.js';
import type { MissedAgents, MissedNode } from '../ports/missed-agents.js';
import type { Store } from '../ports/store.js';

/** How often agents are looked for. With the silence before and what follows, users see the loss within five seconds. */
export const LOOKING_INTERVAL_MS = 500;
/** Agents that are asked at once: a site that is cut off would else be one connection for each of its nodes. The rest follow. */
const ASKED_MAX = 100;

type Ports = { store: Pick<Store, 'commit'>; missed: MissedAgents };

export class LostAgents {
  private readonly asked = new Map<NodeId, Promise<void>>();

  constructor(
    private readonly ports: Ports,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Asks each missed agent that is not being asked. Waits for no answer: silent ones would hold up the next look at all others. */
  async look(): Promise<void> {
    for (const missed of await this.ports.missed.list(ASKED_MAX)) {
      const { id } = missed.node;
      if (this.asked.size >= ASKED_MAX) return;
      if (this.asked.has(id)) continue;
      const judged = judge(this.ports, missed).catch(this.onError);
      this.asked.set(
        id,
        judged.finally(() => this.asked.delete(id)),
      );
    }
  }

  /** Until all that are being asked have been judged. */
  async settled(): Promise<void> {
    await Promise.all(this.asked.values());
  }
}

async function judge({ store, missed }: Ports, one: MissedNode): Promise<void> {
  const answer = await missed.ask(one.node);
  if (answer === 'gone') await takeForGone(store, one);
  if (answer === 'silent') await missed.noteUnanswered(one);
}

async function takeForGone(store: Ports['store'], { node, at }: MissedNode): Promise<void> {
  const conditions = withCondition(node.conditions, nodeReadyCondition('gone', node.name), at);
  try {
    await store.commit({ kind: 'node', nodeId: node.id, ifVersion: node.version }, [
      { kind: 'node.patch', nodeId: node.id, patch: { conditions } },
      { kind: 'event', event: readinessEvent(node, false, at) },
    ]);
  } catch (error) {
    // It was changed meanwhile, or another worker has told it.
    if (!isFault(error, 'store.conflict')) throw error;
  }
}
