/** The control channel from an engine, or a rebuild's target, to a copy on any agent. */
import type { Answer, Ask, CommandName, ConnectControl } from '@holdfast/data-engine/replica/commands.js';
import { toFault } from './hosts/ipc-peer.js';
import { postJson } from './json-http.js';

/** These read or write a good deal of data while nobody waits for them. */
const SLOW: ReadonlySet<CommandName> = new Set<CommandName>([
  'purge',
  'hashes',
  'block-hashes',
  'prepare',
  'cancel-pull',
]);
const SLOW_TIMEOUT_MS = 60_000;
/** Users' I/O waits for some of the others: no longer than for a silent copy. */
const TIMEOUT_MS = 8_000;

export const connectByHttp: ConnectControl = ({ replicaId, controlUrl, secret }) => ({
  async command<Name extends CommandName>(name: Name, ask: Ask<Name>): Promise<Answer<Name>> {
    const url = `${controlUrl.replace(/\/+$/, '')}/v1/replicas/${replicaId}/commands/${name}`;
    const timeoutMs = SLOW.has(name) ? SLOW_TIMEOUT_MS : TIMEOUT_MS;
    const { status, body } = await postJson(url, secret, ask, timeoutMs);
    if (status === 200) {
      // The cast: an agent of this system answers with what the command is declared to answer.
      return (body as { reply: Answer<Name> }).reply;
    }
    throw faultOf(status, body);
  },
});

/** The fault in a refusal, or a general one where the body is not ours. */
export function faultOf(status: number, body: unknown): Error {
  if (typeof body === 'object' && body !== null && 'code' in body && 'message' in body) {
    return toFault(String(body.code), String(body.message));
  }
  return toFault('agent.refused', `the agent answered ${status}`);
}
