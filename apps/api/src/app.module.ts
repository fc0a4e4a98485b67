import type { SharedPorts } from '@holdfast/identity/shared-port.js';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { Logger } from 'pino';
import { ALL_ACTIONS } from './actions/all-actions.js';
import { AgentController } from './agent/agent.controller.js';
import { AgentAuthenticator } from './agent/agent-authenticator.js';
import { AgentCertificates } from './agent/agent-certificates.js';
import { AlertsController } from './alerts/alerts.controller.js';
import { SilencesController } from './alerts/silences.controller.js';
import { AuditController } from './audit/audit.controller.js';
import { AuditSealing } from './audit/audit-sealing.js';
import { AuthGuard } from './auth/auth.guard.js';
import { Authenticator } from './auth/authenticator.js';
import { FirstAccountController } from './auth/first-account.controller.js';
import { RefusedSignIns } from './auth/refused-sign-ins.js';
import { RequestQuotas } from './auth/request-quotas.js';
import { SessionOrganizationsController } from './auth/session-organizations.controller.js';
import { SessionsController } from './auth/sessions.controller.js';
import { TokensController } from './auth/tokens.controller.js';
import { CapacityController } from './clusters/capacity.controller.js';
import { ClustersController } from './clusters/clusters.controller.js';
import type { Config } from './config.js';
import { DeviceController } from './device/device.controller.js';
import { DryRunInterceptor } from './dry-runs/dry-run.interceptor.js';
import { EventStreams } from './events/event-streams.js';
import { EventsController } from './events/events.controller.js';
import { LiveChanges } from './events/live-changes.js';
import { OpenStreams } from './events/open-streams.js';
import { GrantsController } from './grants/grants.controller.js';
import { HealthController } from './health/health.controller.js';
import { Readiness } from './health/readiness.js';
import { DisksController } from './nodes/disks.controller.js';
import { JoinTokensController } from './nodes/join-tokens.controller.js';
import { NodesController } from './nodes/nodes.controller.js';
import { OidcController } from './oidc/oidc.controller.js';
import { OrganizationProviders } from './oidc/organization-providers.js';
import { ProviderSignIns } from './oidc/provider-sign-ins.js';
import { SignInProviderController } from './oidc/sign-in-provider.controller.js';
import { OperationWaits } from './operations/operation-waits.js';
import { OperationsController } from './operations/operations.controller.js';
import { WaitInterceptor } from './operations/wait.interceptor.js';
import { OrphansController } from './orphans/orphans.controller.js';
import { OrphansService } from './orphans/orphans.service.js';
import { PlacementsController } from './placements/placements.controller.js';
import { PlacementsService } from './placements/placements.service.js';
import { Databases } from './platform/databases.js';
import { Housekeeping } from './platform/housekeeping.js';
import { IdempotencyInterceptor } from './platform/idempotency.interceptor.js';
import { IfMatchInterceptor } from './platform/if-match.interceptor.js';
import { Listening } from './platform/listening.js';
import { PageInterceptor } from './platform/page.interceptor.js';
import { ProblemFilter } from './platform/problem.filter.js';
import { ProcessLife } from './platform/process-life.js';
import { RefusedWrites } from './platform/refused-writes.js';
import { ShortAddressesController } from './platform/short-addresses.controller.js';
import { CONFIG, LOGGER, SHARED_PORTS } from './platform/tokens.js';
import { UnansweredKeys } from './platform/unanswered-keys.js';
import { ValidationPipe } from './platform/validation.pipe.js';
import { RebuildsController } from './rebuilds/rebuilds.controller.js';
import { RebuildsService } from './rebuilds/rebuilds.service.js';
import { RecoveriesController } from './recoveries/recoveries.controller.js';
import { SettingsController } from './settings/settings.controller.js';
import { RecurringSnapshotsController } from './snapshots/recurring-snapshots.controller.js';
import { RecurringSnapshotsService } from './snapshots/recurring-snapshots.service.js';
import { SnapshotsController } from './snapshots/snapshots.controller.js';
import { SnapshotsService } from './snapshots/snapshots.service.js';
import { InvitationsController } from './tenancy/invitations.controller.js';
import { MembersController } from './tenancy/members.controller.js';
import { PermissionsController } from './tenancy/permissions.controller.js';
import { ProjectMembersController } from './tenancy/project-members.controller.js';
import { QuotasController } from './tenancy/quotas.controller.js';
import { ServiceAccountsController } from './tenancy/service-accounts.controller.js';
import { TenancyController } from './tenancy/tenancy.controller.js';
import { ThreadPool } from './threads/thread-pool.js';
import { AllVolumesController } from './volumes/all-volumes.controller.js';
import { ReplicasController } from './volumes/replicas.controller.js';
import { ShownVolumes } from './volumes/shown-volumes.js';
import { Verifications } from './volumes/verifications.js';
import { VolumeSettingsController } from './volumes/volume-settings.controller.js';
import { VolumesController } from './volumes/volumes.controller.js';
import { VolumesService } from './volumes/volumes.service.js';
import { WebhookDeliveriesController } from './webhooks/webhook-deliveries.controller.js';
import { WebhooksController } from './webhooks/webhooks.controller.js';

/** Every route of the process; the OpenAPI document is made of the same list. */
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

/** What the process is made of beside its modules. */
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
