import { type Body, createClient, type Schema } from '@holdfast/api-client/client.js';
import { toProblem } from './problem';

/** The largest page of the API; longer lists are read page by page, up to a bound. */
const PAGE_LIMIT = 200;
/** A few screens: further pages are read on demand. */
const ROWS_PER_PAGE = 100;
/** The API's own bound: once these are recovered, the next ones are shown. */
export const RECOVERIES_LIMIT = 100;
/** 10,000 items: past that a list needs a filter, not more pages. */
const PAGES_MAX = 50;

/** Less than it takes a user to wonder: a page that waits longer for an API that hangs looks as if it were true. */
const READ_MS_MAX = 8_000;
/** If the API does not answer, the console says so within ten seconds. */
const PULSE_MS_MAX = 4_000;
/** Changes and searches may wait for agents or for a slot; the API itself ends them earlier. */
const WRITE_MS_MAX = 60_000;

/** Same origin: the console passes calls on, and the session's cookie goes along. */
export const client = createClient({ origin: '', fetch: fetchInTime });

function fetchInTime(request: Request): Promise<Response> {
  const inTime = AbortSignal.timeout(request.method === 'GET' ? READ_MS_MAX : WRITE_MS_MAX);
  return fetch(request, { signal: AbortSignal.any([request.signal, inTime]) });
}

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The answer's body, or the refusal as an error. */
export async function ask<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok || data === undefined) throw toProblem(response.status, error);
  return data;
}

/** For a request whose answer has no body. */
export async function askDone(answer: Promise<Answer<unknown>>): Promise<void> {
  const { error, response } = await answer;
  if (!response.ok) throw toProblem(response.status, error);
}

type Page<T> = { items: T[]; nextCursor: string | null };
type PageQuery = { limit: number; cursor?: string };

export async function askAll<T>(askPage: (query: PageQuery) => Promise<Answer<Page<T>>>): Promise<T[]> {
  const items: T[] = [];
  let query: PageQuery = { limit: PAGE_LIMIT };
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { items: more, nextCursor } = await ask(askPage(query));
    items.push(...more);
    if (nextCursor === null) return items;
    query = { limit: PAGE_LIMIT, cursor: nextCursor };
  }
  // A part that is shown as the whole would be untrue.
  throw new Error(`the list has more than ${PAGES_MAX * PAGE_LIMIT} entries`);
}

export type PageAsk = { filter: string; sort?: string; cursor: string | undefined; limit?: number };

function pageQuery({ filter, sort, cursor, limit = ROWS_PER_PAGE }: PageAsk) {
  return {
    limit,
    ...(sort === undefined ? {} : { sort }),
    ...(filter === '' ? {} : { filter }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

export const CLUSTER = '/api/v1/clusters/{clusterId}' as const;
type DrainPolicy = Schema<'NodeDrain'>['policy'];
type NodeVerb = 'cordon' | 'uncordon' | 'cancel-drain' | 'end-maintenance';
export const NODE = `${CLUSTER}/nodes/{nodeId}` as const;
export const DISK = `${NODE}/disks/{diskId}` as const;
const REBUILD = `${CLUSTER}/rebuilds/{rebuildId}` as const;
/** Filter for rebuilds that have not ended. */
export const ACTIVE_REBUILDS = 'state in (running, queued)';
export const ENDED_REBUILDS = 'state in (succeeded, failed, cancelled)';
export const ENDED_REBUILDS_SORT = '-queuedAt';
export const RESOLVED_ALERTS = { filter: 'state=resolved', sort: '-since' } as const;
/** Filter for silences that have not ended. */
export const silencesNow = () => `endsAt>${new Date().toISOString()}`;
const VOLUME = `${CLUSTER}/volumes/{volumeId}` as const;

const REPLICA = `${VOLUME}/replicas/{replicaId}` as const;
const RECURRING = `${VOLUME}/recurring-snapshots/{recurringName}` as const;

function snapshotAt(clusterId: string, volumeId: string, snapshotId: string) {
  return { params: { path: { clusterId, volumeId, snapshotId } } };
}

export type NewDisk = {
  path: string;
  type: Schema<'Disk'>['type'];
  size?: number;
  tags: string[];
  allowScheduling: boolean;
  storageReserved: number;
};
type NewJoinToken = { name: string; nodeName: string; lifeMinutes: number };
export type NewVolume = Body<'/api/v1/clusters/{clusterId}/volumes', 'post'>;
/** A volume in a what-if, before it is created. */
export type VolumeShape = Omit<NewVolume, 'name' | 'labels' | 'projectId' | 'topologyRequirement'> & {
  count: number;
};
type SimulateBody = Body<'/api/v1/clusters/{clusterId}/placements/simulate', 'post'>;
export type WhatIf = {
  volumes: VolumeShape[];
  lose: { zones: string[]; nodes: string[]; disks: string[] };
  add: NonNullable<SimulateBody['add']>;
  drain: { node: string; policy?: DrainPolicy }[];
  settings: NonNullable<SimulateBody['settings']>;
  howManyMore: boolean;
};
export type Schedule = { cron: string; retain: number };
export type VolumeChange = Partial<
  Pick<Schema<'Volume'>, Schema<'VolumeSetting'>['name'] | 'numberOfReplicas'>
>;
export type RecoveryChoice = {
  name?: string;
  projectId?: string;
  fromClusterId?: string;
  acceptsDeleted: boolean;
  acceptsMissing: boolean;
};
export type MoveTarget = { nodeId?: string; diskId?: string };

export const api = {
  signIn: (email: string, password: string) =>
    ask(client.POST('/api/v1/sessions', { body: { email, password } })),
  makeFirstAccount: (body: { secret: string; email: string; name: string; password: string }) =>
    ask(client.POST('/api/v1/first-account', { body })),
  signInProvider: () => ask(client.GET('/api/v1/oidc')),
  approveDevice: (userCode: string) =>
    ask(client.POST('/api/v1/device/{userCode}/approve', { params: { path: { userCode } } })),
  signOut: () => client.DELETE('/api/v1/sessions'),
  risk: (clusterId: string) =>
    ask(
      client.GET(`${CLUSTER}/risk`, {
        params: { path: { clusterId } },
        signal: AbortSignal.timeout(PULSE_MS_MAX),
      }),
    ),
  replicaCounts: (clusterId: string, nodeIds: readonly string[]) =>
    ask(
      client.GET(`${CLUSTER}/replica-counts`, {
        params: { path: { clusterId }, query: { nodeIds: nodeIds.join(',') } },
      }),
    ),
  capacity: (clusterId: string, days: number) =>
    ask(client.GET(`${CLUSTER}/capacity`, { params: { path: { clusterId }, query: { days } } })),
  clusters: () => askAll((query) => client.GET('/api/v1/clusters', { params: { query } })),
  createCluster: (name: string) => ask(client.POST('/api/v1/clusters', { body: { name } })),
  makeJoinToken: (clusterId: string, body: NewJoinToken) =>
    ask(client.POST(`${CLUSTER}/join-tokens`, { params: { path: { clusterId } }, body })),
  zones: async (clusterId: string) =>
    (
      await ask(
        client.GET(`${CLUSTER}/zones`, { params: { path: { clusterId }, query: { limit: PAGE_LIMIT } } }),
      )
    ).items,
  nodePage: (clusterId: string, page: PageAsk) =>
    ask(client.GET(`${CLUSTER}/nodes`, { params: { path: { clusterId }, query: pageQuery(page) } })),
  /** All nodes that match: for filters that few match. */
  nodes: (clusterId: string, filter: string) =>
    askAll((query) =>
      client.GET(`${CLUSTER}/nodes`, { params: { path: { clusterId }, query: { ...query, filter } } }),
    ),
  diskPage: (clusterId: string, page: PageAsk) =>
    ask(client.GET(`${CLUSTER}/disks`, { params: { path: { clusterId }, query: pageQuery(page) } })),
  /** All disks that match: for filters that few match. */
  disks: (clusterId: string, filter: string) =>
    askAll((query) =>
      client.GET(`${CLUSTER}/disks`, { params: { path: { clusterId }, query: { ...query, filter } } }),
    ),
  orphans: (clusterId: string) =>
    askAll((query) => client.GET(`${CLUSTER}/orphans`, { params: { path: { clusterId }, query } })),
  /** Volumes that copies on the disks make up, and the database does not know; the first hundred. */
  recoveries: async (clusterId: string) => {
    const query = { limit: RECOVERIES_LIMIT };
    return (await ask(client.GET(`${CLUSTER}/recoveries`, { params: { path: { clusterId }, query } }))).items;
  },
  recover: (clusterId: string, volumeId: string, body: RecoveryChoice) =>
    ask(client.POST(`${CLUSTER}/recoveries/{volumeId}`, { params: { path: { clusterId, volumeId } }, body })),
  actOnNode: (clusterId: string, nodeId: string, verb: NodeVerb) =>
    ask(client.POST(`${NODE}/${verb}`, { params: { path: { clusterId, nodeId } }, body: {} })),
  planDrain: (clusterId: string, nodeId: string, body: { policy?: DrainPolicy }) =>
    ask(client.POST(`${NODE}/drain-plan`, { params: { path: { clusterId, nodeId } }, body })),
  drainNode: (clusterId: string, nodeId: string, body: { policy: DrainPolicy }) =>
    ask(client.POST(`${NODE}/drain`, { params: { path: { clusterId, nodeId } }, body })),
  acceptDisk: (clusterId: string, nodeId: string, diskId: string) =>
    ask(client.POST(`${DISK}/accept`, { params: { path: { clusterId, nodeId, diskId } } })),
  addDisk: (clusterId: string, nodeId: string, body: NewDisk) =>
    ask(client.POST(`${NODE}/disks`, { params: { path: { clusterId, nodeId } }, body })),
  volumePage: (clusterId: string, page: PageAsk) =>
    ask(client.GET(`${CLUSTER}/volumes`, { params: { path: { clusterId }, query: pageQuery(page) } })),
  /** All volumes that match: for filters that few match. */
  volumesThat: (clusterId: string, filter: string) =>
    askAll((query) =>
      client.GET(`${CLUSTER}/volumes`, { params: { path: { clusterId }, query: { ...query, filter } } }),
    ),
  volume: (clusterId: string, volumeId: string) =>
    ask(client.GET(VOLUME, { params: { path: { clusterId, volumeId } } })),
  explainVolume: (clusterId: string, volumeId: string) =>
    ask(client.GET(`${VOLUME}/explain`, { params: { path: { clusterId, volumeId } } })),
  createVolume: (clusterId: string, body: NewVolume) =>
    ask(client.POST(`${CLUSTER}/volumes`, { params: { path: { clusterId } }, body })),
  patchVolume: (clusterId: string, volumeId: string, body: VolumeChange) =>
    ask(client.PATCH(VOLUME, { params: { path: { clusterId, volumeId } }, body })),
  planPatch: (clusterId: string, volumeId: string, body: VolumeChange) =>
    ask(client.POST(`${VOLUME}/patch-plan`, { params: { path: { clusterId, volumeId } }, body })),
  planMove: (clusterId: string, volumeId: string, replicaId: string, body: MoveTarget) =>
    ask(client.POST(`${REPLICA}/move-plan`, { params: { path: { clusterId, volumeId, replicaId } }, body })),
  moveReplica: (clusterId: string, volumeId: string, replicaId: string, body: MoveTarget) =>
    ask(client.POST(`${REPLICA}/move`, { params: { path: { clusterId, volumeId, replicaId } }, body })),
  volumeSettings: async (clusterId: string, volumeId: string) =>
    (await ask(client.GET(`${VOLUME}/settings`, { params: { path: { clusterId, volumeId } } }))).items,
  attach: (clusterId: string, volumeId: string, nodeId: string | undefined) =>
    ask(
      client.POST(`${VOLUME}/attach`, {
        params: { path: { clusterId, volumeId } },
        body: nodeId === undefined ? {} : { nodeId },
      }),
    ),
  salvageAdvice: (clusterId: string, volumeId: string) =>
    ask(client.GET(`${VOLUME}/salvage`, { params: { path: { clusterId, volumeId } } })),
  salvage: (clusterId: string, volumeId: string, replicaIds: string[]) =>
    ask(
      client.POST(`${VOLUME}/salvage`, { params: { path: { clusterId, volumeId } }, body: { replicaIds } }),
    ),
  verify: (clusterId: string, volumeId: string) =>
    ask(client.POST(`${VOLUME}/verify`, { params: { path: { clusterId, volumeId } }, body: {} })),
  snapshots: (clusterId: string, volumeId: string) =>
    askAll((query) =>
      client.GET(`${VOLUME}/snapshots`, { params: { path: { clusterId, volumeId }, query } }),
    ),
  createSnapshot: (clusterId: string, volumeId: string, name: string) =>
    ask(
      client.POST(`${VOLUME}/snapshots`, {
        params: { path: { clusterId, volumeId } },
        body: name === '' ? {} : { name },
      }),
    ),
  hashSnapshot: (clusterId: string, volumeId: string, snapshotId: string) =>
    ask(
      client.POST(`${VOLUME}/snapshots/{snapshotId}/hash`, {
        ...snapshotAt(clusterId, volumeId, snapshotId),
        body: { force: true },
      }),
    ),
  purge: (clusterId: string, volumeId: string) =>
    ask(client.POST(`${VOLUME}/snapshots/purge`, { params: { path: { clusterId, volumeId } }, body: {} })),
  clone: (clusterId: string, volumeId: string, body: { snapshotId: string; name: string }) =>
    ask(client.POST(`${VOLUME}/clone`, { params: { path: { clusterId, volumeId } }, body })),
  setRecurring: (clusterId: string, volumeId: string, recurringName: string, body: Schedule) =>
    ask(client.PUT(RECURRING, { params: { path: { clusterId, volumeId, recurringName } }, body })),
  deleteRecurring: (clusterId: string, volumeId: string, recurringName: string) =>
    ask(client.DELETE(RECURRING, { params: { path: { clusterId, volumeId, recurringName } } })),
  setting: (clusterId: string, name: string) =>
    ask(client.GET(`${CLUSTER}/settings/{name}`, { params: { path: { clusterId, name } } })),
  /** All alerts that are not over, those that nothing silences first. */
  alertsNow: (clusterId: string) =>
    askAll((query) =>
      client.GET(`${CLUSTER}/alerts`, {
        params: {
          path: { clusterId },
          query: { ...query, sort: 'state,-since', filter: 'state in (firing, silenced)' },
        },
      }),
    ),
  resolvedAlertPage: (clusterId: string, cursor: string | undefined) => {
    const query = pageQuery({ ...RESOLVED_ALERTS, cursor });
    return ask(client.GET(`${CLUSTER}/alerts`, { params: { path: { clusterId }, query } }));
  },
  silences: (clusterId: string) => {
    const filter = silencesNow();
    return askAll((query) =>
      client.GET(`${CLUSTER}/silences`, { params: { path: { clusterId }, query: { ...query, filter } } }),
    );
  },
  createSilence: (clusterId: string, body: { matcher: string; comment: string; endsAt: string }) =>
    ask(client.POST(`${CLUSTER}/silences`, { params: { path: { clusterId } }, body })),
  endSilence: (clusterId: string, silenceId: string) =>
    ask(client.DELETE(`${CLUSTER}/silences/{silenceId}`, { params: { path: { clusterId, silenceId } } })),
  auditPage: (page: PageAsk) => ask(client.GET('/api/v1/audit', { params: { query: pageQuery(page) } })),
  verifyAudit: (after: number | undefined) =>
    ask(client.POST('/api/v1/audit/verify', { body: after === undefined ? {} : { after } })),
  settings: async (clusterId: string) =>
    (await ask(client.GET(`${CLUSTER}/settings`, { params: { path: { clusterId } } }))).items,
  resetSetting: (clusterId: string, name: string) =>
    ask(client.DELETE(`${CLUSTER}/settings/{name}`, { params: { path: { clusterId, name } } })),
  putSetting: (clusterId: string, name: string, value: Schema<'Setting'>['value']) =>
    ask(client.PUT(`${CLUSTER}/settings/{name}`, { params: { path: { clusterId, name } }, body: { value } })),
  /** Ends with its signal, here and in the API: it may take seconds. */
  simulate: (clusterId: string, body: WhatIf, signal: AbortSignal) =>
    ask(client.POST(`${CLUSTER}/placements/simulate`, { params: { path: { clusterId } }, body, signal })),
  rebuildPage: (clusterId: string, page: PageAsk) =>
    ask(client.GET(`${CLUSTER}/rebuilds`, { params: { path: { clusterId }, query: pageQuery(page) } })),
  /** Rebuilds of some volumes that run or wait: at most a page, which holds those of a few volumes whole. */
  activeRebuildsOf: (clusterId: string, volumeIds: readonly string[]) => {
    const query = {
      limit: PAGE_LIMIT,
      filter: `${ACTIVE_REBUILDS} AND volumeId in (${volumeIds.join(',')})`,
    };
    return ask(client.GET(`${CLUSTER}/rebuilds`, { params: { path: { clusterId }, query } }));
  },
  pauseRebuild: (clusterId: string, rebuildId: string) =>
    ask(client.POST(`${REBUILD}/pause`, { params: { path: { clusterId, rebuildId } }, body: {} })),
  resumeRebuild: (clusterId: string, rebuildId: string) =>
    ask(client.POST(`${REBUILD}/resume`, { params: { path: { clusterId, rebuildId } }, body: {} })),
  cancelRebuild: (clusterId: string, rebuildId: string) =>
    ask(client.POST(`${REBUILD}/cancel`, { params: { path: { clusterId, rebuildId } }, body: {} })),
  limitRebuild: (clusterId: string, rebuildId: string, bandwidthBytesPerSecond: number | null) =>
    ask(
      client.PATCH(REBUILD, {
        params: { path: { clusterId, rebuildId } },
        body: { bandwidthBytesPerSecond },
      }),
    ),
  eventPage: (clusterId: string, page: PageAsk) =>
    ask(client.GET(`${CLUSTER}/events`, { params: { path: { clusterId }, query: pageQuery(page) } })),
  events: async (clusterId: string, limit: number, filter?: string) => {
    const query = filter === undefined ? { limit } : { limit, filter };
    return (await ask(client.GET(`${CLUSTER}/events`, { params: { path: { clusterId }, query } }))).items;
  },
};
