/**
 * Identity of a node's agent, which its name does not prove: two agents may be started under one name, by a copied
 * configuration or a cloned machine. Only one of them is believed.
 */
import { type Refusal, refuse } from './decision.js';

/** What a heartbeat says of the agent's process and of where it answers. */
export type AgentLife = { bootId: string; controlUrl: string; controlSecret: string };

export type KnownAgent = {
  bootId: string | undefined;
  controlUrl: string | undefined;
  controlSecret: string | undefined;
  /** Lives that a newer one has replaced. */
  pastBootIds: readonly string[];
  lastHeartbeatAt: Date | undefined;
};

export type AgentVerdict = 'same' | 'new-life' | 'refused';

/** Replaced lives that are remembered: one that is refused goes on asking, so only the last few matter. */
export const PAST_BOOTS_MAX = 16;

/**
 * Is the sender the agent that is known under this name, its next life, or a second one beside it?
 *
 * A life that was replaced never comes back. At the same address with the same secret a new life is believed at once:
 * two processes can't listen there, so the one before is gone. Anywhere else it is believed once the known agent has
 * been silent for the whole timeout.
 */
export function judgeAgent(
  known: KnownAgent,
  reported: AgentLife,
  { now, since, timeoutSeconds }: { now: Date; since: Date | undefined; timeoutSeconds: number },
): AgentVerdict {
  if (known.bootId === reported.bootId) return 'same';
  if (known.pastBootIds.includes(reported.bootId)) return 'refused';
  if (known.bootId === undefined || known.lastHeartbeatAt === undefined) return 'new-life';
  if (known.controlUrl === reported.controlUrl && known.controlSecret === reported.controlSecret)
    return 'new-life';
  const silentSinceMs = Math.max(known.lastHeartbeatAt.getTime(), since?.getTime() ?? 0);
  return now.getTime() - silentSinceMs > timeoutSeconds * 1000 ? 'new-life' : 'refused';
}

export function nameTaken(name: string, known: Pick<KnownAgent, 'controlUrl'>): string {
  return (
    `another agent calls itself ${name} and answers at ${known.controlUrl ?? 'an unknown address'}: ` +
    'give one of the two another HOLDFAST_NODE_NAME, or stop it'
  );
}

/** A node that a user has declared gone for good is heard no more, and its name is free once its row is gone. */
export function refuseForgotten(name: string): Refusal<'node.identity_refused'> {
  return refuse('node.identity_refused', `node ${name} is being forgotten: its agent is not heard again`, [
    `wait until node ${name} is gone from the list of nodes, then join as a new node with a join token`,
    'join under another HOLDFAST_NODE_NAME',
  ]);
}
