// Faults of the store on Postgres.
export const DATABASE_FAULTS = [
  {
    name: 'commit-without-a-guard',
    breaks: 'a commit applies only to the version that it was planned from',
    file: 'packages/database/src/store/guard.ts',
    changes: [
      {
        find: `if (rowCount === 0)
    throw conflict(\``,
        replace: `if (rowCount < 0)
    throw conflict(\``,
      },
    ],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'node-counts-on-what-has-changed',
    breaks: 'a commit that counts on another node needs that node as it was',
    file: 'packages/database/src/store/guard.ts',
    changes: [
      {
        find: 'if (rows.find(({ id }) => id === countsOn.id)?.version === countsOn.version) return;',
        replace: 'if (rows.find(({ id }) => id === countsOn.id) !== undefined) return;',
      },
    ],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'booked-past-the-limit-of-the-disk',
    breaks: 'a booking stays within the limit of its disk',
    file: 'packages/database/src/store/booking.ts',
    changes: [
      { find: 'storage_scheduled_bytes + $2 <= $3 AND', replace: 'storage_scheduled_bytes <= $3 AND' },
    ],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'booked-under-old-settings',
    breaks: 'a booking that was computed from older settings is refused',
    file: 'packages/database/src/store/booking.ts',
    changes: [
      {
        find: 'if (settingsVersion !== booking.ifSettingsVersion)',
        replace: 'if (settingsVersion === undefined)',
      },
    ],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'released-twice-as-little',
    breaks: 'a replica that goes gives its whole booking back',
    file: 'packages/database/src/store/booking.ts',
    changes: [
      {
        find: 'storage_scheduled_bytes = storage_scheduled_bytes - $2,',
        replace: 'storage_scheduled_bytes = storage_scheduled_bytes - $2 / 2,',
      },
    ],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'due-page-repeats-its-last-row',
    breaks: 'a page of due volumes begins behind the last of the one before',
    file: 'packages/database/src/store/due-volumes.ts',
    changes: [{ find: '(reconcile_due_at, id) > (', replace: '(reconcile_due_at, id) >= (' }],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'due-mark-lost-to-an-older-look',
    breaks: 'a due time is moved only by the newest look at the volume',
    file: 'packages/database/src/store/due-volumes.ts',
    changes: [
      { find: 'WHERE id = $1 AND reconcile_marks = $3', replace: 'WHERE id = $1 AND reconcile_marks >= $3' },
    ],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'older-engine-confirms-a-record',
    breaks: 'a record of an older epoch is not confirmed',
    file: 'packages/database/src/store/confirm-record.ts',
    changes: [{ find: 'current.epoch !== record.epoch', replace: 'current.epoch > record.epoch + 1' }],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'second-grant-confirms-a-record',
    breaks: 'an engine of another grant of the same epoch is refused',
    file: 'packages/database/src/store/confirm-record.ts',
    changes: [
      { find: "if (isOther) throw stale(volumeId, 'its epoch was granted once more');", replace: '' },
    ],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'stranger-confirms-a-record',
    breaks: 'only the node that the volume is attached to changes its record',
    file: 'packages/database/src/store/confirm-record.ts',
    changes: [
      {
        find: 'if (askedBy !== undefined && current.attached_node_id !== askedBy)',
        replace: 'if (askedBy !== undefined && current.attached_node_id === null)',
      },
    ],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'missed-nodes-oldest-first',
    breaks: 'of the missed nodes the one that was heard last is asked first',
    file: 'packages/database/src/store/unresponsive-nodes.ts',
    changes: [{ find: 'n.last_heartbeat_at DESC, n.id', replace: 'n.last_heartbeat_at, n.id' }],
    foundBy: 'packages/database/src/store/unresponsive-nodes.test.ts',
  },
  {
    name: 'nodes-missed-while-nothing-listened',
    breaks: 'a node is missed only while its heartbeats could be heard',
    file: 'packages/database/src/store/unresponsive-nodes.ts',
    changes: [{ find: 'AND n.last_heartbeat_at >= l.since', replace: 'AND l.since IS NOT NULL' }],
    foundBy: 'packages/database/src/store/unresponsive-nodes.test.ts',
  },
  {
    name: 'cached-fleet-keeps-what-is-gone',
    breaks: 'a fleet that is kept loses what was deleted',
    file: 'packages/database/src/store/fleet-reader.ts',
    changes: [
      {
        find: 'if (nodes.length !== changes.nodeCount || disks.length !== changes.diskCount) return undefined;',
        replace: '',
      },
    ],
    foundBy: 'packages/database/src/store/fleet-reader.test.ts',
  },
  {
    name: 'cached-fleet-keeps-old-settings',
    breaks: 'a fleet that is kept takes over changed settings',
    file: 'packages/database/src/store/fleet-reader.ts',
    changes: [
      {
        find: 'settings: changes.settings ?? kept.settings',
        replace: 'settings: kept.settings ?? changes.settings',
      },
    ],
    foundBy: 'packages/database/src/store/fleet-reader.test.ts',
  },
  {
    name: 'moved-disk-without-proof',
    breaks: 'a disk moves to another node only with proof of its copies',
    file: 'packages/database/src/store/heartbeat-moved-disks.ts',
    changes: [
      { find: 'const isProven = holdsCopies(context, row.id, copies);', replace: 'const isProven = true;' },
    ],
    foundBy: 'apps/api/test/agents.test.ts',
  },
  {
    name: 'disk-moves-across-clusters',
    breaks: 'a disk moves between nodes of its own cluster only',
    file: 'packages/database/src/store/heartbeat-moved-disks.ts',
    changes: [
      {
        find: 'if (from?.clusterId !== clusterId) return undefined;',
        replace: 'if (from === undefined) return undefined;',
      },
    ],
    foundBy: 'apps/api/test/agents.test.ts',
  },
  {
    name: 'orphan-is-a-known-replica',
    breaks: 'a copy that a replica has is no orphan',
    file: 'packages/database/src/store/heartbeat-orphans.ts',
    changes: [
      {
        find: 'WHERE NOT EXISTS (SELECT FROM replica r WHERE r.id = x.replica_id)',
        replace: 'WHERE NOT EXISTS (SELECT FROM replica r WHERE r.id = x.disk_id)',
      },
    ],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'written-bytes-of-an-older-engine',
    breaks: 'only the engine of the current epoch says what a volume holds',
    file: 'packages/database/src/store/heartbeat-engines.ts',
    changes: [
      {
        find: 'v.attached_node_id = $1 AND v.epoch = x.epoch AND',
        replace: 'v.attached_node_id = $1 AND x.epoch IS NOT NULL AND',
      },
    ],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'unchanged-engines-wake-volumes',
    breaks: 'a report that says nothing new wakes no volume',
    file: 'packages/database/src/store/heartbeat-engines.ts',
    changes: [
      {
        find: 'if (before.get(row.volume_id) !== `',
        replace: 'if (row.signature !== before.get(row.volume_id) || `',
      },
    ],
    foundBy: 'packages/database/src/store/postgres-store.test.ts',
  },
  {
    name: 'left-behind-works-on',
    breaks: 'what a member leaves behind ends with the member',
    file: 'packages/database/src/queries/left-behind.ts',
    changes: [
      {
        find: 'for (const kind of endedWith(role)) {',
        replace: "for (const kind of endedWith(role ?? 'owner')) {",
      },
    ],
    foundBy: 'apps/api/test/left-behind.test.ts',
  },
  {
    name: 'provider-of-a-removed-admin-makes-members',
    breaks: 'a sign-in provider makes accounts only while its maker may have it do so',
    file: 'packages/database/src/queries/managed-accounts.ts',
    changes: [
      {
        find: "if (!(await mayStill(sql, 'sign-in provider', maker))) throw makerLeft();",
        replace: 'void maker;',
      },
    ],
    foundBy: 'apps/api/test/left-behind.test.ts',
  },
  {
    name: 'renamed-places-are-made-again',
    breaks: 'the local stack finds its places by other than their names',
    file: 'packages/database/src/seed-local.ts',
    changes: [
      {
        find: "const there = names === LOCAL_NAMES ? await oldestOf(client, 'organization') : undefined;",
        replace: 'const there: string | undefined = undefined;',
      },
    ],
    foundBy: 'packages/database/src/schema.test.ts',
  },
];
