/** Examples of request bodies, by operation, for the OpenAPI document. A test sends each of them to the API. */

const GIB = 2 ** 30;
const ID = '01a1fd5b-0000-7000-8000-000000000201';
const VOLUME_CHANGE = { numberOfReplicas: 3, nodeSelector: ['ssd'], dataLocality: 'best-effort' };
const MOVE = { nodeId: ID };
const QUOTA = { provisionedBytes: 1024 * GIB, volumes: 200, snapshots: null };

export const REQUEST_EXAMPLES: Readonly<Record<string, object>> = {
  audit_verify: { after: 0 },
  clusters_create: { name: 'berlin' },
  clusters_patch: { name: 'berlin-2' },
  jointokens_create: { name: 'rack 7', usesMax: 12, lifeMinutes: 60 },
  nodes_patch: { cordoned: false, tags: ['ssd'], zone: 'zone-a' },
  disks_create: { path: '/mnt/nvme-2', name: 'nvme-2', tags: ['nvme'] },
  disks_patch: { allowScheduling: true, tags: ['nvme'] },
  nodes_drain: { policy: 'block-for-eviction' },
  nodes_drainPlan: { policy: 'block-for-eviction' },
  nodes_startMaintenance: { until: '2099-01-01T00:00:00Z', reason: 'new disks' },
  placements_simulate: { volumes: [{ size: 200 * GIB, numberOfReplicas: 3, count: 2 }] },
  rebuilds_patch: { paused: false, bandwidthBytesPerSecond: 50 * 2 ** 20 },
  settings_put: { value: 3 },
  volumes_create: { name: 'pg-data', size: 20 * GIB, numberOfReplicas: 3, dataLocality: 'best-effort' },
  volumes_patch: VOLUME_CHANGE,
  volumes_planPatch: VOLUME_CHANGE,
  volumes_attach: { nodeId: ID },
  volumes_detach: { force: false },
  volumes_clone: { snapshotId: ID, name: 'pg-test' },
  volumes_expand: { size: 40 * GIB },
  volumes_revert: { snapshotId: ID },
  volumes_salvage: { replicaIds: [ID] },
  replicas_move: MOVE,
  replicas_planMove: MOVE,
  recurringsnapshots_put: { cron: '0 3 * * *', retain: 7 },
  snapshots_create: { name: 'before-upgrade' },
  snapshots_hash: { force: true },
  invitations_create: { email: 'ada@example.org', role: 'operator', validHours: 72 },
  invitations_accept: {
    secret: 'the secret of the link',
    name: 'Ada',
    password: 'correct horse battery staple',
  },
  members_patch: { role: 'operator' },
  tenancy_createOrganization: { name: 'research' },
  tenancy_patchOrganization: { name: 'research-and-teaching' },
  quotas_putOfOrganization: QUOTA,
  quotas_putOfProject: QUOTA,
  tenancy_createProject: { name: 'billing' },
  tenancy_patchProject: { name: 'billing-2' },
  projectmembers_put: { role: 'viewer' },
  sessions_signIn: { email: 'ada@example.org', password: 'correct horse battery staple' },
  sessions_changePassword: {
    currentPassword: 'correct horse battery staple',
    newPassword: 'better horse battery staple',
  },
  firstaccount_create: {
    secret: 'the secret of the link',
    email: 'ada@example.org',
    name: 'Ada',
    password: 'correct horse battery staple',
  },
  device_start: { name: 'holdfast on build-7' },
  device_token: { deviceCode: 'the secret of the program' },
  grants_create: { organizationId: ID, provisionedBytes: 512 * GIB, volumes: 20, nodeTags: ['ssd'] },
  grants_patch: { volumes: 40 },
  silences_create: {
    matcher: 'rule=NodeSilent AND subjectName=node-2',
    comment: 'moved to rack 4',
    endsAt: '2099-01-01T00:00:00Z',
  },
  webhooks_create: {
    name: 'pager',
    url: 'https://hooks.example.com/holdfast',
    filter: 'type in (CriticalAlertFired, AlertResolved)',
  },
  webhooks_patch: { isEnabled: true },
  webhooks_rotateSecret: { overlapHours: 24 },
  tokens_create: { name: 'backup job', readOnly: true },
};
