import { assertVersion } from '@holdfast/control/use-cases/use-case.js';
import {
  findProjectMember,
  listProjectMembers,
  removeProjectMember,
  setProjectRole,
} from '@holdfast/database/queries/members.js';
import { Body, Controller, Delete, Get, Param, Put, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { IfMatch, tagged } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { requireMember, requireProject, there } from './require-tenancy.js';
import {
  ProjectMemberDto,
  ProjectMemberPage,
  ProjectMemberPath,
  ProjectPath,
  PutProjectMemberBody,
} from './tenancy.schemas.js';
import { memberView } from './tenancy.view.js';

@Controller('api/v1/projects/:projectId/members')
export class ProjectMembersController {
  @Get()
  @Route({
    access: 'project:read',
    summary: 'List the members of a project',
    answer: ProjectMemberPage,
    refuses: ['project.not_found'],
  })
  list(@CurrentTenant() tenant: Tenant, @Param() { projectId }: ProjectPath, @Query() query: ListQuery) {
    return tenant.read(async (sql) => {
      await requireProject(sql, projectId);
      return pageView(await listProjectMembers(sql, projectId, query), memberView);
    });
  }

  @Get(':userId')
  @Route({
    access: 'project:read',
    summary: "Read a member's role in a project",
    answer: ProjectMemberDto,
    refuses: ['project.not_found', 'member.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() key: ProjectMemberPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const found = await tenant.read(async (sql) => {
      await requireProject(sql, key.projectId);
      return there(await findProjectMember(sql, key), 'member', key.userId);
    });
    return tagged(reply, memberView(found));
  }

  @Put(':userId')
  @Route({
    access: 'project:manage',
    summary: 'Give a member of the organization a role in a project',
    answer: ProjectMemberDto,
    refuses: ['project.not_found', 'member.not_found'],
  })
  async put(
    @CurrentTenant() tenant: Tenant,
    @Param() key: ProjectMemberPath,
    @Body() { role }: PutProjectMemberBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { organizationId } = tenant.actor;
    const given = await tenant.write(async (sql) => {
      await requireProject(sql, key.projectId);
      await requireMember(sql, key.userId);
      const before = await findProjectMember(sql, key);
      assertVersion(before?.version ?? 0, ifVersion);
      if (before?.role !== role) await setProjectRole(sql, key, { organizationId, role, now: tenant.now });
      return there(await findProjectMember(sql, key), 'member', key.userId);
    });
    return tagged(reply, memberView(given));
  }

  @Delete(':userId')
  @Route({
    access: 'project:manage',
    summary: "Remove a member's role in a project",
    status: 204,
    refuses: ['project.not_found', 'member.not_found'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() key: ProjectMemberPath,
    @IfMatch() ifVersion: number | undefined,
  ): Promise<void> {
    await tenant.write(async (sql) => {
      await requireProject(sql, key.projectId);
      const { version } = there(await findProjectMember(sql, key), 'member', key.userId);
      assertVersion(version, ifVersion);
      await removeProjectMember(sql, key);
    });
  }
}
