import { assertVersion } from '@holdfast/control/use-cases/use-case.js';
import { Bug, StorageFault } from '@holdfast/core/model/faults.js';
import type { ProjectId } from '@holdfast/core/model/ids.js';
import {
  findQuota,
  type QuotaOwner,
  type QuotaRow,
  setQuotaLimits,
} from '@holdfast/database/queries/quotas.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Get, Param, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { IfMatch, tagged } from '../../http/request.js';
import { PutQuotaBody, QuotaDto, quotaView } from './quota.schemas.js';
import { requireOrganization, requireProject } from './require-tenancy.js';
import { OrganizationPath, ProjectPath } from './tenancy.schemas.js';

@Controller('api/v1')
export class QuotasController {
  @Get('organizations/:organizationId/quota')
  @Route({
    access: 'quota:read',
    summary: "Read an organization's quota and use",
    answer: QuotaDto,
    refuses: ['organization.not_found'],
  })
  async ofOrganization(
    @CurrentTenant() tenant: Tenant,
    @Param() { organizationId }: OrganizationPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    assertSeesAll(tenant);
    const found = await tenant.read(async (sql) => {
      await requireOrganization(sql, organizationId);
      return requireQuota(sql, organizationId);
    });
    return tagged(reply, quotaView(found));
  }

  @Put('organizations/:organizationId/quota')
  @Route({
    access: 'quota:write',
    summary: "Set an organization's quota; a field left out has no limit. For owners",
    answer: QuotaDto,
    refuses: ['organization.not_found'],
  })
  async putOfOrganization(
    @CurrentTenant() tenant: Tenant,
    @Param() { organizationId }: OrganizationPath,
    @Body() limits: PutQuotaBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    assertSeesAll(tenant);
    const changed = await tenant.write(async (sql) => {
      await requireOrganization(sql, organizationId);
      assertOwner(tenant);
      return put(sql, organizationId, limits, ifVersion);
    });
    return tagged(reply, quotaView(changed));
  }

  @Get('projects/:projectId/quota')
  @Route({
    access: 'quota:read',
    summary: "Read a project's quota and use",
    answer: QuotaDto,
    refuses: ['project.not_found'],
  })
  async ofProject(
    @CurrentTenant() tenant: Tenant,
    @Param() { projectId }: ProjectPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, quotaView(await readProjectQuota(tenant, projectId)));
  }

  @Put('projects/:projectId/quota')
  @Route({
    access: 'quota:write',
    summary: "Set a project's quota; a field left out has no limit",
    answer: QuotaDto,
    refuses: ['project.not_found'],
  })
  async putOfProject(
    @CurrentTenant() tenant: Tenant,
    @Param() { projectId }: ProjectPath,
    @Body() limits: PutQuotaBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const changed = await tenant.write(async (sql) => {
      await requireProject(sql, projectId);
      return put(sql, projectId, limits, ifVersion);
    });
    return tagged(reply, quotaView(changed));
  }
}

export function readProjectQuota(tenant: Tenant, projectId: ProjectId): Promise<QuotaRow> {
  return tenant.read(async (sql) => {
    await requireProject(sql, projectId);
    return requireQuota(sql, projectId);
  });
}

async function put(
  sql: Sql,
  owner: QuotaOwner,
  limits: PutQuotaBody,
  ifVersion: number | undefined,
): Promise<QuotaRow> {
  const { version } = await requireQuota(sql, owner);
  assertVersion(version, ifVersion);
  await setQuotaLimits(sql, owner, { limits, fromVersion: version });
  return requireQuota(sql, owner);
}

/** Each organization and project has its row from its creation. */
async function requireQuota(sql: Sql, owner: QuotaOwner): Promise<QuotaRow> {
  const found = await findQuota(sql, owner);
  if (found === undefined) throw new Bug(`${owner} has no quota`);
  return found;
}

function assertOwner({ actor }: Tenant): void {
  if (actor.role === 'owner') return;
  throw new StorageFault('auth.forbidden', {
    publicMessage: `the organization's quota is set by its owners; your role is ${actor.role}`,
    cures: ['ask an owner of the organization'],
  });
}

/** The organization's quota covers all projects and clusters. A project's quota has the same two actions. */
function assertSeesAll({ projectIds, clusterIds }: Tenant): void {
  if (projectIds === undefined && clusterIds === undefined) return;
  const part = projectIds === undefined ? 'clusters' : 'projects';
  throw new StorageFault('auth.forbidden', {
    publicMessage: `the organization's quota is for those who see all of it, and you are limited to ${part}`,
    cures: ["use a project's quota, or a token without such limits"],
  });
}
