import { assertVersion } from '@holdfast/control/use-cases/use-case.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type OrganizationId, type ProjectId } from '@holdfast/core/model/ids.js';
import { writeAuditEntry } from '@holdfast/database/queries/audit.js';
import {
  createOrganization,
  createProject,
  deleteProject,
  listOrganizations,
  listProjects,
  renameOrganization,
  renameProject,
} from '@holdfast/database/queries/tenancy.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { Databases } from '../../http/databases.js';
import { IfMatch, tagged } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { requireOrganization, requireProject } from './require-tenancy.js';
import {
  CreateOrganizationBody,
  CreateProjectBody,
  OrganizationDto,
  OrganizationPage,
  OrganizationPath,
  PatchOrganizationBody,
  PatchProjectBody,
  ProjectDto,
  ProjectPage,
  ProjectPath,
} from './tenancy.schemas.js';
import { namedView } from './tenancy.view.js';

@Controller('api/v1')
export class TenancyController {
  constructor(private readonly databases: Databases) {}

  @Get('organizations')
  @Route({ access: 'organization:read', summary: 'List organizations', answer: OrganizationPage })
  async organizations(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await tenant.read((sql) => listOrganizations(sql, query)), namedView);
  }

  @Post('organizations')
  @Route({
    access: 'organization:write',
    summary: 'Create an organization with the caller as its owner; sign in to it by its id',
    answer: OrganizationDto,
    status: 201,
    refuses: ['organization.name_taken'],
  })
  async createOrganization(
    @CurrentTenant() tenant: Tenant,
    @Body() { name }: CreateOrganizationBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const id = asId<OrganizationId>(tenant.newId());
    const created = { id, name, ownerId: tenant.actor.userId, createdAt: tenant.now };
    // As the system: row-level security hides other organizations.
    const found = await transaction(this.databases.system(), async (sql) => {
      await createOrganization(sql, created);
      await writeAuditEntry(sql, tenant.auditEntry());
      return requireOrganization(sql, id);
    });
    return tagged(reply, namedView(found));
  }

  @Get('organizations/:organizationId')
  @Route({
    access: 'organization:read',
    summary: 'Read an organization',
    answer: OrganizationDto,
    refuses: ['organization.not_found'],
  })
  async organization(
    @CurrentTenant() tenant: Tenant,
    @Param() { organizationId }: OrganizationPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, namedView(await tenant.read((sql) => requireOrganization(sql, organizationId))));
  }

  @Patch('organizations/:organizationId')
  @Route({
    access: 'organization:write',
    summary: 'Rename an organization',
    answer: OrganizationDto,
    refuses: ['organization.not_found', 'organization.name_taken'],
  })
  async patchOrganization(
    @CurrentTenant() tenant: Tenant,
    @Param() { organizationId }: OrganizationPath,
    @Body() { name }: PatchOrganizationBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const changed = await tenant.write(async (sql) => {
      const before = await requireOrganization(sql, organizationId);
      assertVersion(before.version, ifVersion);
      if (name === undefined || name === before.name) return before;
      await renameOrganization(sql, { id: organizationId, name, fromVersion: before.version });
      return requireOrganization(sql, organizationId);
    });
    return tagged(reply, namedView(changed));
  }

  @Get('projects')
  @Route({ access: 'project:read', summary: 'List projects', answer: ProjectPage })
  async projects(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await tenant.read((sql) => listProjects(sql, query)), namedView);
  }

  @Post('projects')
  @Route({
    access: 'project:write',
    summary: 'Create a project',
    answer: ProjectDto,
    status: 201,
    refuses: ['project.name_taken', 'project.not_found'],
  })
  async createProject(
    @CurrentTenant() tenant: Tenant,
    @Body() { name }: CreateProjectBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const id = asId<ProjectId>(tenant.newId());
    const { organizationId } = tenant.actor;
    const made = await tenant.write(async (sql) => {
      await createProject(sql, { id, organizationId, name, createdAt: tenant.now });
      return requireProject(sql, id);
    });
    return tagged(reply, namedView(made));
  }

  @Get('projects/:projectId')
  @Route({
    access: 'project:read',
    summary: 'Read a project',
    answer: ProjectDto,
    refuses: ['project.not_found'],
  })
  async project(
    @CurrentTenant() tenant: Tenant,
    @Param() { projectId }: ProjectPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, namedView(await tenant.read((sql) => requireProject(sql, projectId))));
  }

  @Patch('projects/:projectId')
  @Route({
    access: 'project:manage',
    summary: 'Rename a project',
    answer: ProjectDto,
    refuses: ['project.not_found', 'project.name_taken'],
  })
  async patchProject(
    @CurrentTenant() tenant: Tenant,
    @Param() { projectId }: ProjectPath,
    @Body() { name }: PatchProjectBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const changed = await tenant.write(async (sql) => {
      const before = await requireProject(sql, projectId);
      assertVersion(before.version, ifVersion);
      if (name === undefined || name === before.name) return before;
      await renameProject(sql, { id: projectId, name, fromVersion: before.version });
      return requireProject(sql, projectId);
    });
    return tagged(reply, namedView(changed));
  }

  @Delete('projects/:projectId')
  @Route({
    access: 'project:write',
    summary: 'Delete a project without volumes; tokens with it as default project end',
    status: 204,
    refuses: ['project.not_found', 'project.not_empty'],
  })
  async deleteProject(
    @CurrentTenant() tenant: Tenant,
    @Param() { projectId }: ProjectPath,
    @IfMatch() ifVersion: number | undefined,
  ): Promise<void> {
    await tenant.write(async (sql) => {
      const { name, version } = await requireProject(sql, projectId);
      assertVersion(version, ifVersion);
      if (await deleteProject(sql, projectId)) return;
      throw new StorageFault('project.not_empty', {
        publicMessage: `project ${name} still has volumes`,
        cures: ['delete its volumes first'],
      });
    });
  }
}
