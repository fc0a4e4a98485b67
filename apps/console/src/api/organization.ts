/** Calls about an organization: who belongs to it, its projects, invitations, service accounts and quotas. */

import type { OrganizationRole, ProjectRole } from '@holdfast/access/permissions.js';
import type { Schema } from '@holdfast/api-client/client.js';
import { ask, askAll, askDone, client } from './client';

export type Member = Schema<'Member'>;
export type Invitation = Schema<'Invitation'>;
export type OpenInvitation = Schema<'OpenInvitation'>;
export type Project = Schema<'Project'>;
export type ProjectMember = Schema<'ProjectMember'>;
export type ServiceAccount = Schema<'ServiceAccount'>;
export type Quota = Schema<'Quota'>;
export type QuotaLimits = Partial<Quota['limits']>;
export type QuotaOwner = { readonly kind: 'organization' | 'project'; readonly id: string };

const MEMBER = '/api/v1/members/{userId}' as const;
const PROJECT = '/api/v1/projects/{projectId}' as const;
const ACCOUNT = '/api/v1/service-accounts/{serviceAccountId}' as const;

export const organizationApi = {
  whoAmI: () => ask(client.GET('/api/v1/sessions/current')),
  rename: (organizationId: string, name: string) =>
    ask(
      client.PATCH('/api/v1/organizations/{organizationId}', {
        params: { path: { organizationId } },
        body: { name },
      }),
    ),
  /** Those that the session can be switched to. */
  own: async () => (await ask(client.GET('/api/v1/sessions/organizations'))).items,
  switchTo: (organizationId: string) =>
    ask(
      client.POST('/api/v1/sessions/organizations/{organizationId}', {
        params: { path: { organizationId } },
      }),
    ),
  create: (name: string) => ask(client.POST('/api/v1/organizations', { body: { name } })),

  members: () => askAll((query) => client.GET('/api/v1/members', { params: { query } })),
  setRole: (userId: string, role: OrganizationRole) =>
    ask(client.PATCH(MEMBER, { params: { path: { userId } }, body: { role } })),
  removeMember: (userId: string) => askDone(client.DELETE(MEMBER, { params: { path: { userId } } })),
  invitations: () => askAll((query) => client.GET('/api/v1/invitations', { params: { query } })),
  invite: (email: string, role: OrganizationRole) =>
    ask(client.POST('/api/v1/invitations', { body: { email, role } })),
  readInvitation: (secret: string) => ask(client.POST('/api/v1/invitations/read', { body: { secret } })),
  /** As the signed-in user. */
  join: (secret: string) => ask(client.POST('/api/v1/invitations/join', { body: { secret } })),
  /** With the account that the invitation makes, or by the password of the existing one. */
  accept: (body: { secret: string; name: string; password: string }) =>
    ask(client.POST('/api/v1/invitations/accept', { body })),
  withdraw: (invitationId: string) =>
    askDone(client.DELETE('/api/v1/invitations/{invitationId}', { params: { path: { invitationId } } })),

  projects: () => askAll((query) => client.GET('/api/v1/projects', { params: { query } })),
  project: (projectId: string) => ask(client.GET(PROJECT, { params: { path: { projectId } } })),
  createProject: (name: string) => ask(client.POST('/api/v1/projects', { body: { name } })),
  renameProject: (projectId: string, name: string) =>
    ask(client.PATCH(PROJECT, { params: { path: { projectId } }, body: { name } })),
  deleteProject: (projectId: string) => askDone(client.DELETE(PROJECT, { params: { path: { projectId } } })),
  projectMembers: (projectId: string) =>
    askAll((query) => client.GET(`${PROJECT}/members`, { params: { path: { projectId }, query } })),
  setProjectRole: (projectId: string, userId: string, role: ProjectRole) =>
    ask(
      client.PUT(`${PROJECT}/members/{userId}`, { params: { path: { projectId, userId } }, body: { role } }),
    ),
  removeProjectMember: (projectId: string, userId: string) =>
    askDone(client.DELETE(`${PROJECT}/members/{userId}`, { params: { path: { projectId, userId } } })),

  accounts: () => askAll((query) => client.GET('/api/v1/service-accounts', { params: { query } })),
  createAccount: (name: string, role: OrganizationRole) =>
    ask(client.POST('/api/v1/service-accounts', { body: { name, role } })),
  changeAccount: (serviceAccountId: string, body: { role?: OrganizationRole; isDisabled?: boolean }) =>
    ask(client.PATCH(ACCOUNT, { params: { path: { serviceAccountId } }, body })),
  deleteAccount: (serviceAccountId: string) =>
    askDone(client.DELETE(ACCOUNT, { params: { path: { serviceAccountId } } })),

  quota: ({ kind, id }: QuotaOwner) =>
    kind === 'organization'
      ? ask(
          client.GET('/api/v1/organizations/{organizationId}/quota', {
            params: { path: { organizationId: id } },
          }),
        )
      : ask(client.GET(`${PROJECT}/quota`, { params: { path: { projectId: id } } })),
  setQuota: ({ kind, id }: QuotaOwner, body: QuotaLimits) =>
    kind === 'organization'
      ? ask(
          client.PUT('/api/v1/organizations/{organizationId}/quota', {
            params: { path: { organizationId: id } },
            body,
          }),
        )
      : ask(client.PUT(`${PROJECT}/quota`, { params: { path: { projectId: id } }, body })),
};
