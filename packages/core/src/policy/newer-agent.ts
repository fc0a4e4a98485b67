/**
 * May an agent of this version of the protocol be heard?
 *
 * A control plane works with agents of its own version and of earlier ones. What a newer one reports or expects may have
 * another meaning than the fields that are known here, so it is refused whole before anything of it is stored.
 */
import { AGENT_PROTOCOL_VERSION } from '../model/agent-protocol.js';
import { type Refusal, refuse } from './decision.js';

/** @param spoken version that the agent says it speaks; `undefined`: it is from before agents said so */
export function refuseNewerAgent(
  name: string,
  spoken: number | undefined,
): Refusal<'node.agent_newer'> | undefined {
  if (spoken === undefined || spoken <= AGENT_PROTOCOL_VERSION) return undefined;
  return refuse(
    'node.agent_newer',
    `the agent of node ${name} speaks version ${spoken} of the agents' protocol, and this control plane knows ${AGENT_PROTOCOL_VERSION}: the agent is of a newer Holdfast`,
    ['upgrade the APIs and workers first', 'or start the agent of the version before on this node'],
  );
}
