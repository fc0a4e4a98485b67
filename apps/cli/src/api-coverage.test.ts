/** Every operation of the API is reached by a command, or is left out for a reason. */
import fs from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { program } from './program.js';

const DOCUMENT = new URL('../../../packages/api-client/openapi.json', import.meta.url);

function operations(): string[] {
  const { paths }: { paths: Record<string, Record<string, { operationId: string }>> } = JSON.parse(
    fs.readFileSync(DOCUMENT, 'utf8'),
  );
  return Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
}

test('every operation of the API has a command, or a reason to have none', () => {
  expect([...Object.keys(LEFT_OUT), ...Object.keys(REACHED)].sort()).toEqual(operations().sort());
});

test('the commands that reach them are there', async () => {
  const root = await program();
  const isThere = (words: string) => {
    let command: Command | undefined = root;
    for (const word of words.split(' ')) command = command?.commands.find((one) => one.name() === word);
    return command !== undefined;
  };
  expect(Object.values(REACHED).filter((words) => !isThere(words))).toEqual([]);
});

const SESSIONS = 'sessions are made by a browser, which lists and ends them; a program has a token';
const AGENTS = 'asked by agents, with their certificates';
const SUMMARY = 'a summary for the console; its parts are listed by other commands';
const FOLLOWED = 'followed by --watch, or with `holdfast api`';
const BY_ANOTHER = 'its answer is part of another command';

const LEFT_OUT: Readonly<Record<string, string>> = {
  agent_authorities: AGENTS,
  agent_heartbeat: AGENTS,
  agent_join: AGENTS,
  agent_confirmRecord: AGENTS,
  sessions_signIn: SESSIONS,
  sessions_list: SESSIONS,
  sessions_signOut: SESSIONS,
  sessions_changePassword: SESSIONS,
  sessions_end: SESSIONS,
  replicas_list: BY_ANOTHER,
  replicas_get: BY_ANOTHER,
  volumes_explainByPost: BY_ANOTHER,
  volumes_planPatch: BY_ANOTHER,
  disks_get: BY_ANOTHER,
  recurringsnapshots_get: BY_ANOTHER,
  members_get: BY_ANOTHER,
  invitations_get: BY_ANOTHER,
  projectmembers_get: BY_ANOTHER,
  tenancy_organization: BY_ANOTHER,
  tenancy_project: BY_ANOTHER,
  operations_listAll: BY_ANOTHER,
  operations_find: BY_ANOTHER,
  allvolumes_list: BY_ANOTHER,
  clusters_risk: SUMMARY,
  clusters_replicaCounts: SUMMARY,
  events_listAll: BY_ANOTHER,
  events_stream: FOLLOWED,
  events_streamAll: FOLLOWED,
};

const REACHED: Readonly<Record<string, string>> = {
  audit_list: 'audit list',
  audit_export: 'audit export',
  audit_verify: 'audit verify',
  clusters_list: 'cluster list',
  clusters_create: 'cluster create',
  clusters_get: 'cluster get',
  clusters_patch: 'cluster rename',
  clusters_delete: 'cluster delete',
  nodes_disks: 'disk list',
  events_list: 'event list',
  jointokens_list: 'node join-tokens',
  jointokens_create: 'node join-token',
  jointokens_delete: 'node delete-join-token',
  jointokens_revoke: 'node revoke-identity',
  nodes_list: 'node list',
  nodes_get: 'node get',
  nodes_patch: 'node set',
  nodes_delete: 'node delete',
  nodes_cordon: 'node cordon',
  nodes_uncordon: 'node uncordon',
  nodes_drain: 'node drain',
  nodes_drainPlan: 'node drain',
  nodes_cancelDrain: 'node cancel-drain',
  nodes_startMaintenance: 'node maintenance',
  nodes_endMaintenance: 'node end-maintenance',
  disks_list: 'disk list',
  disks_create: 'disk add',
  disks_patch: 'disk set',
  disks_delete: 'disk remove',
  operations_list: 'operation list',
  operations_get: 'operation get',
  operations_cancel: 'operation cancel',
  orphans_list: 'orphan list',
  orphans_get: 'orphan get',
  orphans_delete: 'orphan delete',
  placements_simulate: 'placement simulate',
  rebuilds_list: 'rebuild list',
  rebuilds_get: 'rebuild get',
  rebuilds_patch: 'rebuild limit',
  rebuilds_cancel: 'rebuild cancel',
  rebuilds_pause: 'rebuild pause',
  rebuilds_resume: 'rebuild resume',
  settings_list: 'setting list',
  settings_get: 'setting get',
  settings_put: 'setting set',
  settings_delete: 'setting reset',
  volumes_list: 'volume list',
  volumes_create: 'volume create',
  volumes_get: 'volume get',
  volumes_patch: 'volume set',
  volumes_delete: 'volume delete',
  volumes_attach: 'volume attach',
  volumes_detach: 'volume detach',
  volumes_verify: 'volume verify',
  volumes_cancelVerify: 'volume cancel-verify',
  volumes_clone: 'volume clone',
  volumes_expand: 'volume expand',
  volumes_explain: 'volume explain',
  volumes_revert: 'volume revert',
  volumes_adviseSalvage: 'volume salvage',
  volumes_salvage: 'volume salvage',
  volumesettings_list: 'volume settings',
  replicas_delete: 'volume remove-replica',
  replicas_move: 'volume move-replica',
  replicas_planMove: 'volume move-replica',
  recurringsnapshots_list: 'snapshot schedule list',
  recurringsnapshots_put: 'snapshot schedule set',
  recurringsnapshots_delete: 'snapshot schedule delete',
  snapshots_list: 'snapshot list',
  snapshots_create: 'snapshot create',
  snapshots_get: 'snapshot get',
  snapshots_delete: 'snapshot delete',
  snapshots_purge: 'snapshot purge',
  snapshots_hash: 'snapshot hash',
  invitations_list: 'member invitations',
  invitations_create: 'member invite',
  invitations_accept: 'member accept',
  invitations_delete: 'member withdraw',
  permissions_get: 'auth why',
  members_list: 'member list',
  members_patch: 'member set-role',
  members_delete: 'member remove',
  tenancy_organizations: 'organization list',
  tenancy_createOrganization: 'organization create',
  tenancy_patchOrganization: 'organization rename',
  quotas_ofOrganization: 'quota get',
  quotas_putOfOrganization: 'quota set',
  quotas_ofProject: 'quota get',
  quotas_putOfProject: 'quota set',
  tenancy_projects: 'project list',
  tenancy_createProject: 'project create',
  tenancy_patchProject: 'project rename',
  tenancy_deleteProject: 'project delete',
  projectmembers_list: 'project members',
  projectmembers_put: 'project grant',
  projectmembers_delete: 'project revoke',
  sessions_whoAmI: 'auth status',
  tokens_list: 'token list',
  tokens_create: 'token create',
  tokens_get: 'token get',
  tokens_delete: 'token delete',
  tokens_rotate: 'token rotate',
};
