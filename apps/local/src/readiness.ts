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

export type LocalApi = { url: string; token: string; clusterId: string };

type VolumeItem = { state: string; attention: { cures: string[] } | null };

/**
 * Waits until the volumes of the last run are attached again, or need a user. Returns without an error after the limit.
 */
export async function waitForAttached(api: LocalApi, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const volumes = await list<VolumeItem>(api, '/volumes?limit=200&filter=state%3Dattaching');
    const needsPerson = ({ attention }: VolumeItem) => attention !== null && attention.cures.length > 0;
    if (volumes?.every(needsPerson)) return;
    await sleep(POLL_MS * 2);
  }
}

type NodeItem = {
  id: string;
  name: string;
  conditions: { type: string; status: string }[];
  lastHeartbeatAt: string | null;
};

/**
 * Waits until the API calls the node Ready, and returns its id. A heartbeat older than `heartbeatAfterMs` does not
 * count: it may be from the agent's last run.
 */
export async function waitForNode(
  api: LocalApi,
  name: string,
  timeoutMs: number,
  heartbeatAfterMs: number,
): Promise<string> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const nodes = await list<NodeItem>(api, '/nodes?limit=100');
    const node = nodes?.find((candidate) => candidate.name === name);
    if (node !== undefined && isReady(node) && heartbeatOf(node) >= heartbeatAfterMs) return node.id;
    await sleep(POLL_MS * 2);
  }
  throw new Error(`node ${name} did not become ready within ${timeoutMs / 1000} s`);
}

/** One page of a list; `undefined` when there was no answer. */
async function list<T>(api: LocalApi, path: string): Promise<T[] | undefined> {
  try {
    const response = await fetch(`${api.url}/clusters/${api.clusterId}${path}`, {
      headers: { authorization: `Bearer ${api.token}` },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!response.ok) return undefined;
    // The cast: the API's answer to a list, as its OpenAPI document says.
    const page = (await response.json()) as { items: T[] };
    return page.items;
  } catch {
    return undefined;
  }
}

function isReady(node: NodeItem): boolean {
  return node.conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
}

function heartbeatOf(node: NodeItem): number {
  return node.lastHeartbeatAt === null ? 0 : Date.parse(node.lastHeartbeatAt);
}
