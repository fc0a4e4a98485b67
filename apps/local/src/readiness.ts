import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;
const REQUEST_TIMEOUT_MS = 2_000;

/** Polls a URL until it answers 2xx. `stillWorthIt` ends the wait early, with its reason. */
export async function waitForOk(
  url: string,
  timeoutMs: number,
  stillWorthIt: () => string | undefined,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const reason = stillWorthIt();
    if (reason !== undefined) throw new Error(reason);
    if (await answersOk(url)) return;
    await sleep(POLL_MS);
  }
  throw new Error(`${url} did not become ready within ${timeoutMs / 1000} s`);
}

async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

type NodeItem = {
  id: string;
  name: string;
  conditions: { type: string; status: string }[];
  lastHeartbeatAt: string | null;
};

/**
 * Waits until a node of that name is Ready in the API's eyes, and returns its id. A heartbeat before
 * `heartbeatAfterMs` may be of the agent's life before, and does not count.
 */
export async function waitForNode(
  api: { url: string; token: string; clusterId: string },
  name: string,
  timeoutMs: number,
  heartbeatAfterMs: number,
): Promise<string> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const node = (await listNodes(api)).find((candidate) => candidate.name === name);
    if (node !== undefined && isReady(node) && heartbeatOf(node) >= heartbeatAfterMs) return node.id;
    await sleep(POLL_MS * 2);
  }
  throw new Error(`node ${name} did not become ready within ${timeoutMs / 1000} s`);
}

async function listNodes(api: { url: string; token: string; clusterId: string }): Promise<NodeItem[]> {
  try {
    const response = await fetch(`${api.url}/clusters/${api.clusterId}/nodes?limit=100`, {
      headers: { authorization: `Bearer ${api.token}` },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!response.ok) return [];
    // The API's own answer to a list, as its OpenAPI document says.
    const page = (await response.json()) as { items: NodeItem[] };
    return page.items;
  } catch {
    return [];
  }
}

function isReady(node: NodeItem): boolean {
  return node.conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
}

function heartbeatOf(node: NodeItem): number {
  return node.lastHeartbeatAt === null ? 0 : Date.parse(node.lastHeartbeatAt);
}
