/**
 * May an agent of this version of the protocol be heard?
 *
 * A control plane works with agents of its own version and of earlier ones. What a newer one reports or expects may have
 * another meaning than the fields that are known here, so it is refused whole before anything of it is stored. One from before an
 * upgrade is refused once that was finished: nothing has to work with it any more.
 */
import { AGENT_PROTOCOL_VERSION } from '../model/agent-protocol.js';
import { type Refusal, refuse } from './decision.js';

/** What an agent speaks that does not say so: it is from before agents did. */
const UNSAID = 0;

/**
 * @param spoken version that the agent says it speaks; `undefined`: it does not say
 * @param oldest the lowest one that is heard; `undefined`: all earlier ones are
 */
export function refuseAgentVersion(
  name: string,
  spoken: number | undefined,
  oldest: number | undefined,
): Refusal<'node.agent_newer' | 'node.agent_older'> | undefined {
  const version = spoken ?? UNSAID;
  if (version > AGENT_PROTOCOL_VERSION)
    return refuse(
      'node.agent_newer',
      `the agent of node ${name} speaks version ${version} of the agents' protocol, and this control plane knows ${AGENT_PROTOCOL_VERSION}: the agent is of a newer Holdfast`,
      ['upgrade the APIs and workers first', 'or start the agent of the version before on this node'],
    );
  if (oldest === undefined || version >= oldest) return undefined;
  // What matters comes first: agents log the beginning of a long answer only.
  const what =
    spoken === undefined
      ? "it does not say which version of the agents' protocol it speaks"
      : `it speaks version ${version} of the agents' protocol`;
  return refuse(
    'node.agent_older',
    `the agent of node ${name} is of an older Holdfast: ${what}, and since the last upgrade was finished ${oldest} is the oldest one that is heard`,
    ['start the agent of the version that the APIs and workers have'],
  );
}

/** Would this node's agent be refused, if the oldest version that is heard were this one? */
export function isAgentOlder(spoken: number | undefined, oldest: number): boolean {
  return (spoken ?? UNSAID) < oldest;
}
