/**
 * Probes agents that have missed a heartbeat. If an agent's machine refuses connections, the agent is gone and so are the engines on
 * it: the node is not ready, without the rest of `agent-heartbeat-timeout` (docs/design/reconciliation.md). If no answer comes, only
 * time can tell: the node is recorded as unreachable, which users see and no decision uses (docs/adr/0310-unreachable-nodes.md).
 */
import { withCondition } from '@holdfast/core/model/condition.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';
import { nodeReadyCondition } from '@holdfast/core/policy/node-conditions.js';
import { readinessEvent } from '@holdfast/core/policy/node-events.js';
import type { Queue } from '../ports/queue.js';
import type { Store } from '../ports/store.js';
import type { UnresponsiveAgents, UnresponsiveNode } from '../ports/unresponsive-agents.js';

/** How often agents are looked for. With the silence before and what follows, users see the loss within five seconds. */
export const LOOKING_INTERVAL_MS = 500;
/**
 * Maximum agents probed at once: a site that is cut off would otherwise mean one connection for each of its nodes. The rest follow.
 */
const ASKED_MAX = 100;

/**
 * Silence from which on a cluster may have to judge it: the smallest `agent-heartbeat-timeout`. The sweep alone would come up to five
 * seconds after the timeout.
 */
const JUDGED_AFTER_MS = 5_000;
/** How often the cluster of a silent node is reconciled: a tenth of the usual timeout. */
const JUDGED_INTERVAL_MS = 1_000;

type Ports = { store: Pick<Store, 'commit'>; missed: UnresponsiveAgents; queue: Pick<Queue, 'wake'> };

export class LostAgents {
  private readonly asked = new Map<NodeId, Promise<void>>();
  /** When the clusters of silent nodes were woken last, by the clock that stamps heartbeats. */
  private wokenAt: ReadonlyMap<ClusterId, Date> = new Map();

  constructor(
    private readonly ports: Ports,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Asks each missed agent that is not being asked. Waits for no answer: silent ones would hold up the next look at all others. */
  async look(): Promise<void> {
    const all = await this.ports.missed.list(ASKED_MAX);
    await this.wakeClusters(all);
    for (const missed of all) {
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

  /** Clusters judge their own nodes, by their own timeouts. Those without a silent node are forgotten. */
  private async wakeClusters(all: readonly UnresponsiveNode[]): Promise<void> {
    const wokenAt = new Map<ClusterId, Date>();
    for (const { node, at } of all) {
      const silentMs = at.getTime() - (node.lastHeartbeatAt?.getTime() ?? 0);
      if (silentMs < JUDGED_AFTER_MS || wokenAt.has(node.clusterId)) continue;
      const before = this.wokenAt.get(node.clusterId);
      const isDue = before === undefined || at.getTime() - before.getTime() >= JUDGED_INTERVAL_MS;
      if (isDue) await this.ports.queue.wake({ kind: 'cluster', clusterId: node.clusterId });
      wokenAt.set(node.clusterId, isDue ? at : before);
    }
    this.wokenAt = wokenAt;
  }

  /** Until all that are being asked have been judged. */
  async settled(): Promise<void> {
    await Promise.all(this.asked.values());
  }
}

async function judge({ store, missed }: Ports, one: UnresponsiveNode): Promise<void> {
  const answer = await missed.ask(one.node);
  if (answer === 'gone') await takeForGone(store, one);
  if (answer === 'silent') await missed.noteUnanswered(one);
}

async function takeForGone(store: Ports['store'], { node, at }: UnresponsiveNode): Promise<void> {
  const conditions = withCondition(node.conditions, nodeReadyCondition('gone', node.name), at);
  try {
    await store.commit({ kind: 'node', nodeId: node.id, ifVersion: node.version }, [
      { kind: 'node.patch', nodeId: node.id, patch: { conditions } },
      { kind: 'event', event: readinessEvent(node, false, at) },
    ]);
  } catch (error) {
    // The node was changed meanwhile, or another worker has recorded it.
    if (!isFault(error, 'store.conflict')) throw error;
  }
}
