import { NO_EFFECTS } from '@holdfast/core/alerts/find-alerts.js';
import type { ApiFixture } from './api-fixture.js';

const NO_BYTES = { total: 0, compared: 0, skipped: 0, sent: 0, written: 0, verified: 0 };

/** Makes one resource of every kind. Returns their ids, by the names of parameters in addresses. */
export async function makeOneOfEach(api: ApiFixture): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  ids.clusterId = api.seed.clusterId;
  ids.organizationId = api.seed.organizationId;
  ids.projectId = api.seed.projectId;
  ids.nodeId = await api.node('node-1', 'zone-a');
  const volume = await api.createVolume({ numberOfReplicas: 1 });
  ids.volumeId = String(volume.id);
  const { rows } = await api.owner.query(
    `SELECT (SELECT id FROM replica LIMIT 1) AS replica, (SELECT id FROM disk LIMIT 1) AS disk,
       (SELECT user_id FROM membership WHERE organization_id = $1) AS member,
       (SELECT id FROM token WHERE organization_id = $1 AND kind = 'api') AS token`,
    [api.seed.organizationId],
  );
  Object.assign(ids, {
    replicaId: rows[0].replica,
    diskId: rows[0].disk,
    userId: rows[0].member,
    tokenId: rows[0].token,
    rebuildId: '01a1fd5b-0000-7000-8000-000000000201',
    operationId: 'rebuild-01a1fd5b-0000-7000-8000-000000000201',
    snapshotId: '01a1fd5b-0000-7000-8000-000000000601',
    name: 'balance-alpha',
    recurringName: 'hourly',
    serviceAccountId: '01a1fd5b-0000-7000-8000-000000000e01',
    invitationId: '01a1fd5b-0000-7000-8000-000000000901',
    orphanId: '01a1fd5b-0000-7000-8000-000000000701',
    grantId: '01a1fd5b-0000-7000-8000-000000000a02',
    alertId: '01a1fd5b-0000-7000-8000-000000000c01',
    silenceId: '01a1fd5b-0000-7000-8000-000000000d01',
    webhookId: '01a1fd5b-0000-7000-8000-000000000a01',
    deliveryId: '01a1fd5b-0000-7000-8000-000000000b01',
    userCode: 'BCDF-GHJK',
  });
  const { organizationId: other } = await api.otherTenant();
  await api.owner.query(
    `WITH made AS (INSERT INTO app_user (id, email, name, service_of, created_at)
       VALUES ($1::uuid, $1::text || '@service-account.invalid', 'ci', $2, now()))
     INSERT INTO membership (organization_id, user_id, role, created_at) VALUES ($2, $1::uuid, 'viewer', now())`,
    [ids.serviceAccountId, api.seed.organizationId],
  );
  await api.owner.query(
    `INSERT INTO cluster_grant (id, cluster_id, owner_organization_id, organization_id, node_tags, disk_tags, created_at)
     VALUES ($1, $2, $3, $4, '{}', '{}', now())`,
    [ids.grantId, ids.clusterId, api.seed.organizationId, other],
  );
  await api.owner.query(
    `INSERT INTO sign_in_provider (organization_id, issuer, client_id, domains, default_role, created_at)
     VALUES ($1, 'https://id.example.org/', 'holdfast', '{example.org}', 'viewer', now())`,
    [api.seed.organizationId],
  );
  await api.owner.query(
    `INSERT INTO snapshot (id, organization_id, volume_id, name, origin, created_at)
     VALUES ($1, $2, $3, 's', 'user', now())`,
    [ids.snapshotId, api.seed.organizationId, ids.volumeId],
  );
  await api.call('PUT', `/projects/${ids.projectId}/members/${ids.userId}`, { body: { role: 'admin' } });
  await api.owner.query(
    `INSERT INTO invitation (id, organization_id, email, role, secret_hash, invited_by, created_at, expires_at)
     VALUES ($1, $2, 'guest@example.test', 'viewer', 'h', $3, now(), now() + interval '1 day')`,
    [ids.invitationId, api.seed.organizationId, ids.userId],
  );
  await api.owner.query(
    `WITH made AS (
       INSERT INTO silence (id, organization_id, cluster_id, matcher, comment, starts_at, ends_at, author, created_at)
       VALUES ($1, $2, $3, 'rule=NodeSilent', 'c', now(), now() + interval '1 hour', 'u', now()))
     INSERT INTO alert (id, organization_id, cluster_id, rule, severity, subject_kind, subject_id, subject_name, message,
       effects, since, changed_at)
     VALUES ($4, $2, $3, 'NodeSilent', 'error', 'node', 'n', 'n', 'm', $5, now(), now())`,
    [ids.silenceId, api.seed.organizationId, ids.clusterId, ids.alertId, NO_EFFECTS],
  );
  await api.owner.query(
    `WITH made AS (
       INSERT INTO webhook (id, organization_id, name, url, filter, transaction_id, event_id, created_at)
       VALUES ($1, $2, 'w', 'https://example.test', '', 0, 0, now()) RETURNING id)
     INSERT INTO webhook_delivery (id, organization_id, webhook_id, cluster_id, transaction_id, event_id, type, body,
       next_attempt_at, created_at)
     SELECT $3, $2, id, $4, 1, 1, 'NodeReady', '{}', now(), now() FROM made`,
    [ids.webhookId, api.seed.organizationId, ids.deliveryId, ids.clusterId],
  );
  await api.call('PUT', `${api.volumes}/${ids.volumeId}/recurring-snapshots/hourly`, {
    body: { cron: '@hourly', retain: 1 },
  });
  await api.owner.query(
    `INSERT INTO orphan (id, organization_id, cluster_id, node_id, disk_id, replica_id, volume_id, written_bytes,
       first_seen_at, announced_at)
     VALUES ($1, $2, $3, $4, $5, $1, $6, 4096, now(), now())`,
    [ids.orphanId, api.seed.organizationId, ids.clusterId, ids.nodeId, ids.diskId, ids.volumeId],
  );
  await api.owner.query(
    `INSERT INTO rebuild (id, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, state, phase,
       healthy_copies, size_bytes, bytes, queued_at)
     VALUES ($1, $2, $3, $4, $5, $6, 'queued', 'waiting', 1, 4096, $7, now())`,
    [
      ids.rebuildId,
      api.seed.organizationId,
      ids.clusterId,
      ids.volumeId,
      ids.replicaId,
      ids.nodeId,
      NO_BYTES,
    ],
  );
  return ids;
}
