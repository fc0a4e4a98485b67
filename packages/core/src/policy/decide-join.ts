/**
 * May an agent have a certificate for a node's name?
 *
 * Its request proves that it has the key. A key that the name's identity is known by renews its certificate; every other
 * key needs a join token, and one that names the node where the name has an identity already.
 */
import { refuseForgotten } from './agent-identity.js';
import { refuseAgentVersion } from './agent-version.js';
import { type Decision, refuse } from './decision.js';

/** Largest difference between an agent's clock and the control plane's. */
export const CLOCK_OFF_SECONDS_MAX = 300;

export type JoinTokenFacts = {
  /** The node that it lets join, or join again; `undefined`: nodes of new names. */
  readonly nodeName: string | undefined;
  readonly uses: number;
  readonly usesMax: number;
  readonly expiresAt: Date | undefined;
  /** May its maker make join tokens at this moment? One of the installation's own has none, and counts as true. */
  readonly isMakerEntitled: boolean;
};

export type JoinFacts = {
  readonly name: string;
  readonly now: Date;
  readonly agentClock: Date;
  /** Version of the agents' protocol that it speaks; `undefined`: it does not say. */
  readonly protocol: number | undefined;
  /** The lowest version that is heard; `undefined`: all earlier ones are. */
  readonly oldestProtocol: number | undefined;
  /** The token that it was sent with; `undefined`: none, or an unknown one. */
  readonly token: JoinTokenFacts | undefined;
  /** A user has declared the node of this name gone for good, and something still refers to it. */
  readonly isBeingForgotten: boolean;
  /** What is known under the name. */
  readonly known:
    | { readonly kind: 'nothing' }
    /** A node of a version that knew no identities. */
    | { readonly kind: 'node'; readonly provesSecret: boolean }
    /** @property isUnused its certificate has run out, and no node was ever heard under it */
    | {
        readonly kind: 'identity';
        readonly isSameKey: boolean;
        readonly isRevoked: boolean;
        readonly isUnused: boolean;
      };
};

type JoinRefusal =
  | 'node.agent_newer'
  | 'node.agent_older'
  | 'node.clock_off'
  | 'node.identity_refused'
  | 'node.name_taken'
  | 'join_token.refused';

/** `renew`: the key has the name already, so that no token is used up. */
export type JoinDecision =
  | Exclude<Decision<JoinRefusal>, { kind: 'allow' | 'unchanged' }>
  | { kind: 'join' | 'renew' };

export function decideJoin(facts: JoinFacts): JoinDecision {
  const { name, token, known } = facts;
  const unfit = refuseAgentVersion(name, facts.protocol, facts.oldestProtocol) ?? clockRefusal(facts);
  if (unfit !== undefined) return unfit;
  if (facts.isBeingForgotten) return refuseForgotten(name);
  if (known.kind === 'identity' && known.isSameKey) {
    // A key that may be in other hands never counts again, whatever token comes with it.
    return known.isRevoked
      ? refuse('node.identity_refused', `the key of node ${name} was revoked`, [rejoin(name)])
      : { kind: 'renew' };
  }
  if (token === undefined) {
    return refuse(
      'join_token.refused',
      `node ${name} has no certificate here, and its join token is missing or unknown`,
      ['make a join token and give it to the agent in HOLDFAST_AGENT_TOKEN'],
    );
  }
  const spent = tokenRefusal(token, facts);
  if (spent !== undefined) return spent;
  if (token.nodeName !== undefined || isFree(known)) return { kind: 'join' };
  return refuse('node.name_taken', `another agent has joined as ${name}, and this token is for new names`, [
    'give this agent another HOLDFAST_NODE_NAME',
    rejoin(name),
  ]);
}

function rejoin(name: string): string {
  return `make a join token for the node and give it to the agent: holdfast node join-token --node ${name}`;
}

function isFree(known: JoinFacts['known']): boolean {
  switch (known.kind) {
    case 'nothing':
      return true;
    case 'node':
      return known.provesSecret;
    case 'identity':
      return known.isUnused;
  }
}

function tokenRefusal(token: JoinTokenFacts, { name, now }: JoinFacts) {
  const { nodeName, uses, usesMax, expiresAt, isMakerEntitled } = token;
  const another = ['make another join token: holdfast node join-token'];
  if (!isMakerEntitled) {
    const why = 'the join token was made by a member who may not have nodes join any more';
    return refuse('join_token.refused', why, another);
  }
  if (expiresAt !== undefined && expiresAt <= now)
    return refuse('join_token.refused', `the join token ran out at ${expiresAt.toISOString()}`, another);
  if (uses >= usesMax)
    return refuse(
      'join_token.refused',
      `the join token was used ${usesMax} times, as often as it may be`,
      another,
    );
  if (nodeName === undefined || nodeName === name) return undefined;
  return refuse('join_token.refused', `the join token is for node ${nodeName}, not for ${name}`, another);
}

function clockRefusal({ now, agentClock }: JoinFacts) {
  const offSeconds = Math.round((agentClock.getTime() - now.getTime()) / 1000);
  if (Math.abs(offSeconds) <= CLOCK_OFF_SECONDS_MAX) return undefined;
  const direction = offSeconds > 0 ? 'ahead of' : 'behind';
  return refuse(
    'node.clock_off',
    `the node's clock is ${Math.abs(offSeconds)} seconds ${direction} the control plane's, and certificates go by the time`,
    ['set the clock of the node, for instance with chrony; the agent tries again'],
  );
}
