import { toProblem } from './problem';
import type {
  Cluster,
  ClusterEvent,
  Disk,
  Page,
  Rebuild,
  StorageNode,
  Volume,
  VolumeVerification,
} from './types';

/** The largest page the API gives; longer lists are asked for page by page, up to a bound. */
const PAGE_LIMIT = 200;
/** 10,000 items: past that a list needs a filter, not more pages. */
const PAGES_MAX = 50;

type Body = Record<string, unknown>;

async function call<T>(method: string, path: string, body?: Body): Promise<T> {
  const response = await fetch(`/api/v1${path}`, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    credentials: 'same-origin',
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw toProblem(response.status, answer);
  // The API validates its answers against the OpenAPI document these types come from.
  return answer as T;
}

async function listAll<T>(path: string): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query: string =
      cursor === null ? `limit=${PAGE_LIMIT}` : `limit=${PAGE_LIMIT}&cursor=${encodeURIComponent(cursor)}`;
    const answer: Page<T> = await call('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`);
    items.push(...answer.items);
    cursor = answer.nextCursor;
    if (cursor === null) break;
  }
  return items;
}

export type NewVolume = {
  name: string;
  size: number;
  numberOfReplicas: number;
  nodeSelector?: string[];
  diskSelector?: string[];
};

export const api = {
  signIn: (email: string, password: string) => call<unknown>('POST', '/sessions', { email, password }),
  signOut: () => call<unknown>('DELETE', '/sessions'),
  clusters: () => listAll<Cluster>('/clusters'),
  nodes: (clusterId: string) => listAll<StorageNode>(`/clusters/${clusterId}/nodes`),
  disks: (clusterId: string, nodeId: string) => listAll<Disk>(`/clusters/${clusterId}/nodes/${nodeId}/disks`),
  updateNode: (clusterId: string, nodeId: string, patch: Body) =>
    call<StorageNode>('PATCH', `/clusters/${clusterId}/nodes/${nodeId}`, patch),
  volumes: (clusterId: string) => listAll<Volume>(`/clusters/${clusterId}/volumes`),
  volume: (clusterId: string, id: string) => call<Volume>('GET', `/clusters/${clusterId}/volumes/${id}`),
  createVolume: (clusterId: string, volume: NewVolume) =>
    call<Volume>('POST', `/clusters/${clusterId}/volumes`, volume),
  deleteVolume: (clusterId: string, id: string) =>
    call<unknown>('DELETE', `/clusters/${clusterId}/volumes/${id}`),
  attach: (clusterId: string, id: string, nodeId: string | undefined) =>
    call<Volume>(
      'POST',
      `/clusters/${clusterId}/volumes/${id}/attach`,
      nodeId === undefined ? {} : { nodeId },
    ),
  detach: (clusterId: string, id: string, force: boolean) =>
    call<Volume>('POST', `/clusters/${clusterId}/volumes/${id}/detach`, { force }),
  verify: (clusterId: string, id: string) =>
    call<VolumeVerification>('POST', `/clusters/${clusterId}/volumes/${id}/verify`, {}),
  rebuilds: (clusterId: string) =>
    call<Page<Rebuild>>('GET', `/clusters/${clusterId}/rebuilds?limit=${PAGE_LIMIT}&sort=-queuedAt`),
  cancelRebuild: (clusterId: string, id: string) =>
    call<Rebuild>('POST', `/clusters/${clusterId}/rebuilds/${id}/cancel`, {}),
  events: (clusterId: string, limit: number, filter?: string) =>
    call<Page<ClusterEvent>>(
      'GET',
      `/clusters/${clusterId}/events?limit=${limit}${filter === undefined ? '' : `&filter=${encodeURIComponent(filter)}`}`,
    ),
};
