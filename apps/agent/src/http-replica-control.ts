/**
 * Client of the control channel to a copy: an engine or a rebuild's target sends commands to the copy's agent, by HTTP over
 * TLS, on one machine without.
 */
import crypto from 'node:crypto';
import type https from 'node:https';
import {
  type Answer,
  type Ask,
  COMMAND_TRAITS,
  type CommandName,
  type ConnectControl,
} from '@holdfast/data-engine/protocol/commands.js';
import { hostOf, isLoopback } from '@holdfast/identity/names.js';
import { toFault } from './hosts/ipc-peer.js';
import { pagesOf } from './http/message-pages.js';
import type { NodeConnections } from './identity/node-connections.js';
import { overTls, postJson } from './json-http.js';

/** Time limit of commands that may read or write a whole layer. */
const SLOW_TIMEOUT_MS = 60_000;
/** Limit of other commands. User I/O waits for some of them, so it is no longer than the limit for a silent copy. */
const TIMEOUT_MS = 8_000;
/** Added to the limit for each page of a long command: the copy's agent has to parse all of it before it can begin. */
const PAGE_TIMEOUT_MS = 25;

/**
 * Largest body that is sent in one piece; a longer one goes in pages. Below what agents accept (`control-server.ts`).
 */
const BODY_BYTES_MAX = 192 * 1024;

type Reply<Name extends CommandName> = {
  reply?: Answer<Name>;
  pagedReply?: { messageId: string; count: number };
};

export const connectByHttp: ConnectControl = ({ replicaId, nodeId, controlUrl, secret }) => ({
  async command<Name extends CommandName>(name: Name, ask: Ask<Name>): Promise<Answer<Name>> {
    const timeoutMs = COMMAND_TRAITS[name].patience === 'long' ? SLOW_TIMEOUT_MS : TIMEOUT_MS;
    const { agentUrl, connections } = await wayTo(nodeId, controlUrl);
    const post: Post = async (path, body, moreMs = 0) => {
      const url = `${agentUrl}/v1/replicas/${replicaId}/${path}`;
      const { status, body: answer } = await postJson(url, secret, body, timeoutMs + moreMs, connections);
      if (status !== 200) throw faultOf(status, answer);
      return answer;
    };
    const { body, pageCount } = await sendPages(ask, post);
    // The casts: an agent of this system answers with what the command is declared to answer.
    const answer = (await post(`commands/${name}`, body, pageCount * PAGE_TIMEOUT_MS)) as Reply<Name>;
    if (answer.pagedReply === undefined) return answer.reply as Answer<Name>;
    const { messageId, count } = answer.pagedReply;
    const pages: string[] = [];
    for (let page = 0; page < count; page += 1) {
      const { text } = (await post(`replies/${messageId}/${page}`, {})) as { text: string };
      pages.push(text);
    }
    return JSON.parse(pages.join('')) as Answer<Name>;
  },
});

type Post = (path: string, body: unknown, moreMs?: number) => Promise<unknown>;

/** Made at the first use: on one machine, where agents are reached by the loopback, there is none. */
let nodes: Promise<NodeConnections> | undefined;

/** Beyond the loopback it is TLS with the certificates of both nodes: a copy's secret does not cross a network in clear. */
async function wayTo(
  nodeId: string,
  controlUrl: string,
): Promise<{ agentUrl: string; connections?: https.Agent }> {
  if (isLoopback(hostOf(new URL(controlUrl)))) {
    return { agentUrl: controlUrl.replace(/\/+$/, '') };
  }
  nodes ??= import('./identity/node-connections.js').then(
    (loaded) => new loaded.NodeConnections(process.env.HOLDFAST_STATE_DIR ?? ''),
  );
  return { agentUrl: overTls(controlUrl), connections: await (await nodes).to(nodeId) };
}

/**
 * Sends a long command's pages ahead of it.
 *
 * @returns the command's body: the ask itself, or the id of the message that its pages form
 */
async function sendPages(ask: object, post: Post): Promise<{ body: object; pageCount: number }> {
  const text = JSON.stringify(ask);
  if (Buffer.byteLength(text) <= BODY_BYTES_MAX) return { body: ask, pageCount: 0 };
  const pagedMessage = crypto.randomUUID();
  const pages = pagesOf(text);
  for (const [page, part] of pages.entries()) {
    await post(`messages/${pagedMessage}/${page}`, { count: pages.length, text: part });
  }
  return { body: { pagedMessage }, pageCount: pages.length };
}

/** The fault in a refusal, or a general one where the body is not an agent's. */
export function faultOf(status: number, body: unknown): Error {
  if (typeof body === 'object' && body !== null && 'code' in body && 'message' in body) {
    const newest =
      'newestEpoch' in body && typeof body.newestEpoch === 'number' ? body.newestEpoch : undefined;
    return toFault(String(body.code), String(body.message), newest);
  }
  return toFault('agent.refused', `the agent answered ${status}`);
}
