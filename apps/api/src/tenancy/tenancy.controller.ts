import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ProjectId } from '@holdfast/core/model/ids.js';
import {
  createProject,
  findMember,
  findOrganization,
  findProject,
  listMembers,
  listOrganizations,
  listProjects,
} from '@holdfast/database/queries/tenancy.js';
import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentTenant } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import { ListQuery, pageView } from '../platform/schemas.js';
import type { Tenant } from '../platform/tenant.js';
import {
  CreateProjectBody,
  MemberDto,
  MemberPage,
  MemberPath,
  OrganizationDto,
  OrganizationPage,
  OrganizationPath,
  ProjectDto,
  ProjectPage,
  ProjectPath,
} from './tenancy.schemas.js';
import { memberView, organizationView, projectView } from './tenancy.view.js';

@Controller('api/v1')
export class TenancyController {
  @Get('organizations')
  @Route({ access: 'organization:read', summary: 'List organizations', answer: OrganizationPage })
  async organizations(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await tenant.read((sql) => listOrganizations(sql, query)), organizationView);
  }

  @Get('organizations/:organizationId')
  @Route({
    access: 'organization:read',
    summary: 'Read an organization',
    answer: OrganizationDto,
    refuses: ['organization.not_found'],
  })
  async organization(@CurrentTenant() tenant: Tenant, @Param() { organizationId }: OrganizationPath) {
    const found = await tenant.read((sql) => findOrganization(sql, organizationId));
    if (found === undefined) throw notFound('organization', organizationId);
    return organizationView(found);
  }

  @Get('projects')
  @Route({ access: 'project:read', summary: 'List projects', answer: ProjectPage })
  async projects(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await tenant.read((sql) => listProjects(sql, query)), projectView);
  }

  @Post('projects')
  @Route({
    access: 'project:write',
    summary: 'Create a project',
    answer: ProjectDto,
    status: 201,
    refuses: ['project.name_taken', 'project.not_found'],
  })
  async createProject(@CurrentTenant() tenant: Tenant, @Body() { name }: CreateProjectBody) {
    const id = asId<ProjectId>(tenant.newId());
    const { organizationId } = tenant.actor;
    await tenant.write((sql) => createProject(sql, { id, organizationId, name, now: tenant.now }));
    return this.project(tenant, { projectId: id });
  }

  @Get('projects/:projectId')
  @Route({
    access: 'project:read',
    summary: 'Read a project',
    answer: ProjectDto,
    refuses: ['project.not_found'],
  })
  async project(@CurrentTenant() tenant: Tenant, @Param() { projectId }: ProjectPath) {
    const found = await tenant.read((sql) => findProject(sql, projectId));
    if (found === undefined) throw notFound('project', projectId);
    return projectView(found);
  }

  @Get('members')
  @Route({ access: 'member:read', summary: 'List members', answer: MemberPage })
  async members(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    const page = await tenant.read((sql) => listMembers(sql, query));
    return pageView(page, memberView);
  }

  @Get('members/:userId')
  @Route({
    access: 'member:read',
    summary: 'Read a member',
    answer: MemberDto,
    refuses: ['member.not_found'],
  })
  async member(@CurrentTenant() tenant: Tenant, @Param() { userId }: MemberPath) {
    const found = await tenant.read((sql) => findMember(sql, userId));
    if (found === undefined) throw notFound('member', userId);
    return memberView(found);
  }
}

function notFound(kind: 'organization' | 'project' | 'member', id: string): StorageFault {
  return new StorageFault(`${kind}.not_found`, { publicMessage: `there is no ${kind} ${id}` });
}
