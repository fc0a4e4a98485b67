/**
 * Loaders of the objects that others name, for the nested fields of one request: the fields of all objects of a page at the same depth are
 * read by one statement.
 */

import type { Action } from '@holdfast/access/permissions.js';
import type { ClusterId, DiskId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import { findClusters } from '@holdfast/database/queries/clusters.js';
import { LISTS_MAX, type Page } from '@holdfast/database/queries/list-rows.js';
import {
  type DisksOf,
  findDisks,
  findNodes,
  listDisksOfEach,
  listNodesOfEach,
} from '@holdfast/database/queries/nodes.js';
import { listSnapshotsOfEach } from '@holdfast/database/queries/snapshots.js';
import { findVolumes, listVolumesOfEach } from '@holdfast/database/queries/volumes.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import DataLoader from 'dataloader';
import { assertAllowed } from '../access/authenticator.js';
import type { Tenant } from '../access/tenant.js';
import type { ListQuery } from '../http/schemas.js';
import { clusterView } from '../resources/clusters/cluster.view.js';
import { diskView, nodeView } from '../resources/nodes/node.view.js';
import { snapshotView } from '../resources/snapshots/snapshot.view.js';
import type { VolumeKey } from '../resources/volumes/read-volume.js';
import { volumeView } from '../resources/volumes/volume.view.js';
import { connectionOf } from './connection.js';

/** A list of one object, as requested by its field. */
export type ListOf<Owner> = { readonly owner: Owner; readonly request: ListQuery };

export type Loaders = ReturnType<typeof loadersOf>;

/** Created for each request: no caller gets another one's data, and nothing is older than the request. */
export function loadersOf(tenant: Tenant) {
  const seen = volumesSeenBy(tenant);
  return {
    cluster: oneOf(tenant, 'cluster:read', async (sql, ids: readonly ClusterId[]) =>
      byId(await findClusters(sql, ids), ({ id }) => id, clusterView),
    ),
    node: oneOf(tenant, 'node:read', async (sql, ids: readonly NodeId[]) =>
      byId(await findNodes(sql, ids), ({ node }) => node.id, nodeView),
    ),
    disk: oneOf(tenant, 'node:read', async (sql, ids: readonly DiskId[]) =>
      byId(await findDisks(sql, ids), ({ id }) => id, diskView),
    ),
    volume: oneOf(tenant, 'volume:read', async (sql, ids: readonly VolumeId[]) =>
      byId(await findVolumes(sql, ids), ({ volume }) => volume.id, seen),
    ),
    nodesOf: listsOf(tenant, 'node:read', (sql, owners: readonly ClusterId[], request) =>
      viewed(listNodesOfEach(sql, owners, request), nodeView),
    ),
    disksOf: listsOf(tenant, 'node:read', (sql, owners: readonly DisksOf[], request) =>
      viewed(listDisksOfEach(sql, owners, request), diskView),
    ),
    volumesOf: listsOf(tenant, 'volume:read', (sql, owners: readonly ClusterId[], request) =>
      viewed(listVolumesOfEach(sql, owners, request), seen),
    ),
    snapshotsOf: listsOf(tenant, 'volume:read', (sql, owners: readonly VolumeKey[], request) =>
      viewed(listSnapshotsOfEach(sql, owners, request), snapshotView),
    ),
  };
}

type Volumes = Awaited<ReturnType<typeof findVolumes>>;

function volumesSeenBy(tenant: Tenant) {
  return (found: Volumes[number]) => volumeView(found, tenant.actor);
}

/** Objects by their ids; null: the caller does not see it. */
function oneOf<Id extends string, View>(
  tenant: Tenant,
  access: Action,
  read: (sql: Sql, ids: readonly Id[]) => Promise<ReadonlyMap<string, View>>,
): DataLoader<Id, View | null> {
  return new DataLoader(async (ids: readonly Id[]) => {
    const found = await assertAllowed(tenant, access).read((sql) => read(sql, ids));
    return ids.map((id) => found.get(id) ?? null);
  });
}

function byId<Row, View>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
  view: (row: Row) => View,
): ReadonlyMap<string, View> {
  return new Map(rows.map((row) => [idOf(row), view(row)]));
}

type Connection = ReturnType<typeof connectionOf<unknown, unknown>>;

/** Lists of several owners. Those that ask for the same page share a statement. */
function listsOf<Owner>(
  tenant: Tenant,
  access: Action,
  read: (sql: Sql, owners: readonly Owner[], request: ListQuery) => Promise<Page<unknown>[]>,
): DataLoader<ListOf<Owner>, Connection, string> {
  const load = async (lists: readonly ListOf<Owner>[]) => {
    const connections = new Map<ListOf<Owner>, Connection>();
    for (const alike of byRequest(lists)) {
      const [first] = alike;
      if (first === undefined) continue;
      const { request } = first;
      const owners = alike.map(({ owner }) => owner);
      const pages = await assertAllowed(tenant, access).read((sql) => read(sql, owners, request));
      for (const [index, list] of alike.entries()) {
        const page = pages[index];
        if (page !== undefined)
          connections.set(
            list,
            connectionOf(page, request.cursor, (view) => view),
          );
      }
    }
    return lists.map((list) => connections.get(list) ?? new Error('a list has no page'));
  };
  return new DataLoader(load, { maxBatchSize: LISTS_MAX, cacheKeyFn: (list) => JSON.stringify(list) });
}

function byRequest<Owner>(lists: readonly ListOf<Owner>[]): ListOf<Owner>[][] {
  const groups = new Map<string, ListOf<Owner>[]>();
  for (const list of lists) {
    const key = JSON.stringify(list.request);
    const alike = groups.get(key) ?? [];
    groups.set(key, [...alike, list]);
  }
  return [...groups.values()];
}

async function viewed<Row, View>(
  pages: Promise<Page<Row>[]>,
  view: (row: Row) => View,
): Promise<Page<View>[]> {
  return (await pages).map((page) => ({ ...page, items: page.items.map(view) }));
}
