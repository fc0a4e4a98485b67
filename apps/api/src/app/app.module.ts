import type { SharedPorts } from '@holdfast/identity/shared-port.js';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { Logger } from 'pino';
import { AgentAuthenticator } from '../access/agent-authenticator.js';
import { AuthGuard } from '../access/auth.guard.js';
import { Authenticator } from '../access/authenticator.js';
import { IdempotencyInterceptor } from '../access/idempotency.interceptor.js';
import { IfMatchInterceptor } from '../access/if-match.interceptor.js';
import { ProblemFilter } from '../access/problem.filter.js';
import { RefusedSignIns } from '../access/refused-sign-ins.js';
import { RefusedWrites } from '../access/refused-writes.js';
import { RequestQuotas } from '../access/request-quotas.js';
import { UnansweredKeys } from '../access/unanswered-keys.js';
import type { Config } from '../config/config.js';
import { Databases } from '../http/databases.js';
import { PageInterceptor } from '../http/page.interceptor.js';
import { ProcessLife } from '../http/process-life.js';
import { CONFIG, LOGGER, SHARED_PORTS } from '../http/tokens.js';
import { ValidationPipe } from '../http/validation.pipe.js';
import { AgentController } from '../resources/agent/agent.controller.js';
import { AgentCertificates } from '../resources/agent/agent-certificates.js';
import { AlertsController } from '../resources/alerts/alerts.controller.js';
import { SilencesController } from '../resources/alerts/silences.controller.js';
import { ALL_ACTIONS } from '../resources/all-actions.js';
import { AuditController } from '../resources/audit/audit.controller.js';
import { AuditSealing } from '../resources/audit/audit-sealing.js';
import { CapacityController } from '../resources/clusters/capacity.controller.js';
import { ClustersController } from '../resources/clusters/clusters.controller.js';
import { ShortAddressesController } from '../resources/clusters/short-addresses.controller.js';
import { DeviceController } from '../resources/device/device.controller.js';
import { DryRunInterceptor } from '../resources/dry-runs/dry-run.interceptor.js';
import { EventStreams } from '../resources/events/event-streams.js';
import { EventsController } from '../resources/events/events.controller.js';
import { LiveChanges } from '../resources/events/live-changes.js';
import { OpenStreams } from '../resources/events/open-streams.js';
import { GrantsController } from '../resources/grants/grants.controller.js';
import { DisksController } from '../resources/nodes/disks.controller.js';
import { JoinTokensController } from '../resources/nodes/join-tokens.controller.js';
import { NodesController } from '../resources/nodes/nodes.controller.js';
import { OidcController } from '../resources/oidc/oidc.controller.js';
import { OrganizationProviders } from '../resources/oidc/organization-providers.js';
import { ProviderSignIns } from '../resources/oidc/provider-sign-ins.js';
import { SignInProviderController } from '../resources/oidc/sign-in-provider.controller.js';
import { OperationWaits } from '../resources/operations/operation-waits.js';
import { OperationsController } from '../resources/operations/operations.controller.js';
import { WaitInterceptor } from '../resources/operations/wait.interceptor.js';
import { OrphansController } from '../resources/orphans/orphans.controller.js';
import { OrphansService } from '../resources/orphans/orphans.service.js';
import { PlacementsController } from '../resources/placements/placements.controller.js';
import { PlacementsService } from '../resources/placements/placements.service.js';
import { RebuildsController } from '../resources/rebuilds/rebuilds.controller.js';
import { RebuildsService } from '../resources/rebuilds/rebuilds.service.js';
import { RecoveriesController } from '../resources/recoveries/recoveries.controller.js';
import { FirstAccountController } from '../resources/sessions/first-account.controller.js';
import { SessionOrganizationsController } from '../resources/sessions/session-organizations.controller.js';
import { SessionsController } from '../resources/sessions/sessions.controller.js';
import { TokensController } from '../resources/sessions/tokens.controller.js';
import { SettingsController } from '../resources/settings/settings.controller.js';
import { RecurringSnapshotsController } from '../resources/snapshots/recurring-snapshots.controller.js';
import { RecurringSnapshotsService } from '../resources/snapshots/recurring-snapshots.service.js';
import { SnapshotsController } from '../resources/snapshots/snapshots.controller.js';
import { SnapshotsService } from '../resources/snapshots/snapshots.service.js';
import { InvitationsController } from '../resources/tenancy/invitations.controller.js';
import { MembersController } from '../resources/tenancy/members.controller.js';
import { PermissionsController } from '../resources/tenancy/permissions.controller.js';
import { ProjectMembersController } from '../resources/tenancy/project-members.controller.js';
import { QuotasController } from '../resources/tenancy/quotas.controller.js';
import { ServiceAccountsController } from '../resources/tenancy/service-accounts.controller.js';
import { TenancyController } from '../resources/tenancy/tenancy.controller.js';
import { ThreadPool } from '../resources/threads/thread-pool.js';
import { AllVolumesController } from '../resources/volumes/all-volumes.controller.js';
import { ReplicasController } from '../resources/volumes/replicas.controller.js';
import { ShownVolumes } from '../resources/volumes/shown-volumes.js';
import { Verifications } from '../resources/volumes/verifications.js';
import { VolumeSettingsController } from '../resources/volumes/volume-settings.controller.js';
import { VolumesController } from '../resources/volumes/volumes.controller.js';
import { VolumesService } from '../resources/volumes/volumes.service.js';
import { WebhookDeliveriesController } from '../resources/webhooks/webhook-deliveries.controller.js';
import { WebhooksController } from '../resources/webhooks/webhooks.controller.js';
import { HealthController } from './health/health.controller.js';
import { Readiness } from './health/readiness.js';
import { Housekeeping } from './housekeeping.js';
import { Listening } from './listening.js';

/** Every route of the process; the OpenAPI document is made from the same list. */
export const CONTROLLERS: readonly Type[] = [
  HealthController,
  SessionsController,
  SessionOrganizationsController,
  FirstAccountController,
  OidcController,
  SignInProviderController,
  DeviceController,
  TokensController,
  TenancyController,
  MembersController,
  ProjectMembersController,
  InvitationsController,
  ServiceAccountsController,
  PermissionsController,
  QuotasController,
  AuditController,
  WebhooksController,
  WebhookDeliveriesController,
  ClustersController,
  CapacityController,
  GrantsController,
  NodesController,
  JoinTokensController,
  DisksController,
  OrphansController,
  RecoveriesController,
  VolumesController,
  AllVolumesController,
  VolumeSettingsController,
  ReplicasController,
  SnapshotsController,
  RecurringSnapshotsController,
  PlacementsController,
  RebuildsController,
  OperationsController,
  SettingsController,
  EventsController,
  AlertsController,
  SilencesController,
  AgentController,
  ...ALL_ACTIONS.map(({ controller }) => controller),
];

@Module({})
class AppModule {}

/** Dependencies of the process from outside. */
export type Surroundings = { config: Config; logger: Logger; ports: SharedPorts };

/** Everything in the process, wired once: the configuration, the log and the ports come from outside. */
export function appModule({ config, logger, ports }: Surroundings): DynamicModule {
  return {
    module: AppModule,
    controllers: [...CONTROLLERS, ShortAddressesController],
    providers: [
      { provide: CONFIG, useValue: config },
      { provide: LOGGER, useValue: logger },
      { provide: SHARED_PORTS, useValue: ports },
      { provide: Databases, useFactory: () => new Databases(config) },
      Authenticator,
      AgentAuthenticator,
      AgentCertificates,
      RequestQuotas,
      OperationWaits,
      Readiness,
      LiveChanges,
      ProcessLife,
      UnansweredKeys,
      OpenStreams,
      EventStreams,
      Housekeeping,
      RefusedSignIns,
      ProviderSignIns,
      OrganizationProviders,
      RefusedWrites,
      AuditSealing,
      Listening,
      ThreadPool,
      ShownVolumes,
      Verifications,
      VolumesService,
      OrphansService,
      PlacementsService,
      RebuildsService,
      SnapshotsService,
      RecurringSnapshotsService,
      { provide: APP_GUARD, useClass: AuthGuard },
      { provide: APP_PIPE, useClass: ValidationPipe },
      { provide: APP_INTERCEPTOR, useClass: PageInterceptor },
      { provide: APP_INTERCEPTOR, useClass: WaitInterceptor },
      { provide: APP_INTERCEPTOR, useClass: IfMatchInterceptor },
      { provide: APP_INTERCEPTOR, useClass: DryRunInterceptor },
      { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
      { provide: APP_FILTER, useClass: ProblemFilter },
    ],
  };
}
