import { decideRoleChange } from '@holdfast/access/decide-membership.js';
import type { OrganizationRole } from '@holdfast/access/permissions.js';
import { assertVersion, hasToAct } from '@holdfast/control/use-cases/use-case.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type UserId } from '@holdfast/core/model/ids.js';
import { removeMember } from '@holdfast/database/queries/members.js';
import {
  changeServiceAccount,
  countServiceAccounts,
  createServiceAccount,
  findServiceAccount,
  listServiceAccounts,
  type ServiceAccountRow,
} from '@holdfast/database/queries/service-accounts.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Delete, Get, Inject, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { noteEnded } from '../../access/hold-right.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import type { Config } from '../../config/config.js';
import { IfMatch, tagged } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { CONFIG } from '../../http/tokens.js';
import { CreateTokenBody, NewTokenDto } from '../sessions/session.schemas.js';
import { makeToken, newToken } from '../sessions/tokens.controller.js';
import { there } from './require-tenancy.js';
import {
  CreateServiceAccountBody,
  PatchServiceAccountBody,
  ServiceAccountDto,
  ServiceAccountPage,
  ServiceAccountPath,
  serviceAccountView,
} from './service-account.schemas.js';

/** A program needs one; hundreds point to a program that forgets to delete them. */
const ACCOUNTS_MAX = 500;

/** Members for programs: they have roles and tokens as other members, and no way to sign in. */
@Controller('api/v1/service-accounts')
export class ServiceAccountsController {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  @Get()
  @Route({ access: 'member:read', summary: 'List service accounts', answer: ServiceAccountPage })
  async list(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await tenant.read((sql) => listServiceAccounts(sql, query)), serviceAccountView);
  }

  @Post()
  @Route({
    access: 'member:write',
    summary: 'Create a service account',
    answer: ServiceAccountDto,
    status: 201,
    refuses: ['member.no_owner', 'service_account.name_taken', 'service_account.too_many'],
  })
  async create(
    @CurrentTenant() tenant: Tenant,
    @Body() { name, role }: CreateServiceAccountBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { organizationId } = tenant.actor;
    requireRole(tenant, undefined, role);
    const id = asId<UserId>(tenant.newId());
    const created = await tenant.write(async (sql) => {
      if ((await countServiceAccounts(sql, organizationId)) >= ACCOUNTS_MAX) throw tooMany();
      await createServiceAccount(sql, { id, organizationId, name, role, createdAt: tenant.now });
      return requireServiceAccount(sql, id);
    });
    return tagged(reply, serviceAccountView(created));
  }

  @Get(':serviceAccountId')
  @Route({
    access: 'member:read',
    summary: 'Read a service account',
    answer: ServiceAccountDto,
    refuses: ['service_account.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() { serviceAccountId }: ServiceAccountPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const found = await tenant.read((sql) => requireServiceAccount(sql, serviceAccountId));
    return tagged(reply, serviceAccountView(found));
  }

  @Patch(':serviceAccountId')
  @Route({
    access: 'member:write',
    summary: 'Rename a service account, change its role, disable or enable it',
    answer: ServiceAccountDto,
    refuses: ['service_account.not_found', 'service_account.name_taken', 'member.no_owner'],
  })
  async patch(
    @CurrentTenant() tenant: Tenant,
    @Param() { serviceAccountId }: ServiceAccountPath,
    @Body() { name, role, isDisabled }: PatchServiceAccountBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const changed = await tenant.write(async (sql) => {
      const found = await requireServiceAccount(sql, serviceAccountId);
      assertVersion(found.version, ifVersion);
      if (role !== undefined) requireRole(tenant, found.role, role);
      const disabledAt = disabledAtAfter(found, isDisabled, tenant.now);
      const { organizationId } = tenant.actor;
      const ended = await changeServiceAccount(sql, { ...found, organizationId }, { name, role, disabledAt });
      await noteEnded(sql, tenant, ended);
      return requireServiceAccount(sql, serviceAccountId);
    });
    return tagged(reply, serviceAccountView(changed));
  }

  @Delete(':serviceAccountId')
  @Route({
    access: 'member:write',
    summary: 'Delete a service account, with its tokens',
    status: 204,
    refuses: ['service_account.not_found'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() { serviceAccountId }: ServiceAccountPath,
    @IfMatch() ifVersion: number | undefined,
  ): Promise<void> {
    await tenant.write(async (sql) => {
      const { version, id } = await requireServiceAccount(sql, serviceAccountId);
      assertVersion(version, ifVersion);
      const { organizationId } = tenant.actor;
      await noteEnded(sql, tenant, await removeMember(sql, { organizationId, userId: id }));
    });
  }

  @Post(':serviceAccountId/tokens')
  @Route({
    access: 'member:write',
    summary: 'Create a token of a service account, which allows no more than your own',
    answer: NewTokenDto,
    status: 201,
    answersSecret: true,
    refuses: [
      'service_account.not_found',
      'cluster.not_found',
      'project.not_found',
      'token.not_found',
      'idempotency.secret_not_kept',
    ],
  })
  async createToken(
    @CurrentTenant() tenant: Tenant,
    @Param() { serviceAccountId }: ServiceAccountPath,
    @Body() body: CreateTokenBody,
  ) {
    return tenant.write(async (sql) => {
      const { id: userId } = await requireServiceAccount(sql, serviceAccountId);
      return makeToken(sql, newToken(tenant, body, { userId, daysMax: this.config.tokenDaysMax }), tenant);
    });
  }
}

async function requireServiceAccount(sql: Sql, id: UserId): Promise<ServiceAccountRow> {
  return there(await findServiceAccount(sql, id), 'service_account', id);
}

function requireRole({ actor }: Tenant, before: OrganizationRole | undefined, after: OrganizationRole): void {
  const change = {
    byRole: actor.role,
    before,
    after,
    otherOwners: 0,
    isServiceAccount: true,
    isManaged: false,
  };
  hasToAct(decideRoleChange(change));
}

/** Undefined: unchanged. Disabling a disabled account keeps its first time. */
function disabledAtAfter(
  { disabledAt }: ServiceAccountRow,
  isDisabled: boolean | undefined,
  now: Date,
): Date | null | undefined {
  if (isDisabled === undefined) return undefined;
  return isDisabled ? (disabledAt ?? now) : null;
}

function tooMany(): StorageFault {
  return new StorageFault('service_account.too_many', {
    publicMessage: `the organization has ${ACCOUNTS_MAX} service accounts, which is as many as it may have`,
    cures: ['delete one that no program uses'],
  });
}
