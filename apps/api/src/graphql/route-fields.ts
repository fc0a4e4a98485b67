/** Fields made from routes, by their names. All others are written by hand. */

import { AlertsController } from '../resources/alerts/alerts.controller.js';
import { SilencesController } from '../resources/alerts/silences.controller.js';
import { ALL_ACTIONS } from '../resources/all-actions.js';
import { AuditController } from '../resources/audit/audit.controller.js';
import { CapacityController } from '../resources/clusters/capacity.controller.js';
import { ClustersController } from '../resources/clusters/clusters.controller.js';
import { EventsController } from '../resources/events/events.controller.js';
import { DisksController } from '../resources/nodes/disks.controller.js';
import { JoinTokensController } from '../resources/nodes/join-tokens.controller.js';
import { NodesController } from '../resources/nodes/nodes.controller.js';
import { SignInProviderController } from '../resources/oidc/sign-in-provider.controller.js';
import { OperationsController } from '../resources/operations/operations.controller.js';
import { OrphansController } from '../resources/orphans/orphans.controller.js';
import { RecoveriesController } from '../resources/recoveries/recoveries.controller.js';
import { SessionsController } from '../resources/sessions/sessions.controller.js';
import { TokensController } from '../resources/sessions/tokens.controller.js';
import { SettingsController } from '../resources/settings/settings.controller.js';
import { SnapshotsController } from '../resources/snapshots/snapshots.controller.js';
import { InvitationsController } from '../resources/tenancy/invitations.controller.js';
import { MembersController } from '../resources/tenancy/members.controller.js';
import { ProjectMembersController } from '../resources/tenancy/project-members.controller.js';
import { QuotasController } from '../resources/tenancy/quotas.controller.js';
import { ServiceAccountsController } from '../resources/tenancy/service-accounts.controller.js';
import { TenancyController } from '../resources/tenancy/tenancy.controller.js';
import { AllVolumesController } from '../resources/volumes/all-volumes.controller.js';
import { ReplicasController } from '../resources/volumes/replicas.controller.js';
import { VolumesController } from '../resources/volumes/volumes.controller.js';
import { WebhookDeliveriesController } from '../resources/webhooks/webhook-deliveries.controller.js';
import { WebhooksController } from '../resources/webhooks/webhooks.controller.js';
import type { Fields } from './fields.js';
import { type ControllerOf, dryRunField, type RouteHandler, routeField } from './route-field.js';
import type { GraphqlTypes } from './zod-to-graphql.js';

type Routes = Readonly<Record<string, RouteHandler>>;

export const ROUTE_QUERIES: Routes = {
  organization: [TenancyController, 'organization'],
  organizationQuota: [QuotasController, 'ofOrganization'],
  organizationSignInProvider: [SignInProviderController, 'get'],
  project: [TenancyController, 'project'],
  projectMembers: [ProjectMembersController, 'list'],
  projectMember: [ProjectMembersController, 'get'],
  member: [MembersController, 'get'],
  invitations: [InvitationsController, 'list'],
  invitation: [InvitationsController, 'get'],
  serviceAccounts: [ServiceAccountsController, 'list'],
  serviceAccount: [ServiceAccountsController, 'get'],
  whoAmI: [SessionsController, 'whoAmI'],
  sessions: [SessionsController, 'list'],
  auditEntries: [AuditController, 'list'],
  verifyAudit: [AuditController, 'verify'],
  webhookDeliveries: [WebhookDeliveriesController, 'list'],
  webhookDelivery: [WebhookDeliveriesController, 'get'],
  clusterRisk: [ClustersController, 'risk'],
  clusterCapacity: [CapacityController, 'get'],
  replicaCounts: [ClustersController, 'replicaCounts'],
  zones: [NodesController, 'zones'],
  alert: [AlertsController, 'get'],
  silence: [SilencesController, 'get'],
  joinTokens: [JoinTokensController, 'list'],
  nodeDisks: [DisksController, 'list'],
  allVolumes: [AllVolumesController, 'list'],
  allEvents: [EventsController, 'listAll'],
  allOperations: [OperationsController, 'listAll'],
  findOperation: [OperationsController, 'find'],
  recoveries: [RecoveriesController, 'list'],
  replicas: [ReplicasController, 'list'],
  replica: [ReplicasController, 'get'],
  planReplicaMove: [ReplicasController, 'planMove'],
  planVolumePatch: [VolumesController, 'planPatch'],
};

export const ROUTE_MUTATIONS: Routes = {
  createOrganization: [TenancyController, 'createOrganization'],
  patchOrganization: [TenancyController, 'patchOrganization'],
  setOrganizationQuota: [QuotasController, 'putOfOrganization'],
  setOrganizationSignInProvider: [SignInProviderController, 'put'],
  deleteOrganizationSignInProvider: [SignInProviderController, 'delete'],
  createProject: [TenancyController, 'createProject'],
  patchProject: [TenancyController, 'patchProject'],
  deleteProject: [TenancyController, 'deleteProject'],
  setProjectQuota: [QuotasController, 'putOfProject'],
  setProjectMember: [ProjectMembersController, 'put'],
  deleteProjectMember: [ProjectMembersController, 'delete'],
  patchMember: [MembersController, 'patch'],
  deleteMember: [MembersController, 'delete'],
  createInvitation: [InvitationsController, 'create'],
  deleteInvitation: [InvitationsController, 'delete'],
  createServiceAccount: [ServiceAccountsController, 'create'],
  patchServiceAccount: [ServiceAccountsController, 'patch'],
  deleteServiceAccount: [ServiceAccountsController, 'delete'],
  createServiceAccountToken: [ServiceAccountsController, 'createToken'],
  endSession: [SessionsController, 'end'],
  changePassword: [SessionsController, 'changePassword'],
  createToken: [TokensController, 'create'],
  rotateToken: [TokensController, 'rotate'],
  deleteToken: [TokensController, 'delete'],
  createWebhook: [WebhooksController, 'create'],
  patchWebhook: [WebhooksController, 'patch'],
  deleteWebhook: [WebhooksController, 'delete'],
  rotateWebhookSecret: [WebhooksController, 'rotateSecret'],
  redeliverWebhook: [WebhookDeliveriesController, 'redeliver'],
  createCluster: [ClustersController, 'create'],
  patchCluster: [ClustersController, 'patch'],
  deleteCluster: [ClustersController, 'delete'],
  createSilence: [SilencesController, 'create'],
  endSilence: [SilencesController, 'delete'],
  patchNode: [NodesController, 'patch'],
  deleteNode: [NodesController, 'delete'],
  revokeNodeIdentity: [JoinTokensController, 'revoke'],
  createJoinToken: [JoinTokensController, 'create'],
  deleteJoinToken: [JoinTokensController, 'delete'],
  createDisk: [DisksController, 'create'],
  patchDisk: [DisksController, 'patch'],
  acceptDisk: [DisksController, 'accept'],
  deleteDisk: [DisksController, 'delete'],
  recoverVolume: [RecoveriesController, 'recover'],
  deleteReplica: [ReplicasController, 'delete'],
};

/** Actions on one object; each names its mutation. */
export const ACTION_MUTATIONS: Routes = Object.fromEntries(
  ALL_ACTIONS.map(({ mutation, controller, method }) => [mutation, [controller, method] as const]),
);

/** Routes with a dry run whose mutations are written by hand. */
const TRIED_ROUTES: Routes = {
  deleteVolume: [VolumesController, 'delete'],
  patchVolume: [VolumesController, 'patch'],
  deleteSnapshot: [SnapshotsController, 'delete'],
  setSetting: [SettingsController, 'put'],
  resetSetting: [SettingsController, 'delete'],
  deleteOrphan: [OrphansController, 'delete'],
  ...ACTION_MUTATIONS,
};

/** A field for each mutation whose route has a dry run, named "dryRun" and the mutation. */
export function dryRunFields(types: GraphqlTypes, controllerOf: ControllerOf): Fields {
  return Object.fromEntries(
    Object.entries({ ...ROUTE_MUTATIONS, ...TRIED_ROUTES }).flatMap(([mutation, route]) => {
      const name = `dryRun${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`;
      const found = dryRunField(types, name, route, controllerOf);
      return found === undefined ? [] : [[name, found] as const];
    }),
  );
}

export function routeFields(types: GraphqlTypes, routes: Routes, controllerOf: ControllerOf): Fields {
  return Object.fromEntries(
    Object.entries(routes).map(([name, route]) => [name, routeField(types, name, route, controllerOf)]),
  );
}
