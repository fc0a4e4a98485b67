import { changeMemberRole, removeMember } from '@holdfast/control/use-cases/change-member.js';
import { listMembers } from '@holdfast/database/queries/members.js';
import { Body, Controller, Delete, Get, Param, Patch, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { accessPorts } from '../../access/access-ports.js';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { IfMatch, tagged } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { requireMember } from './require-tenancy.js';
import { MemberDto, MemberPage, MemberPath, PatchMemberBody } from './tenancy.schemas.js';
import { memberView } from './tenancy.view.js';

@Controller('api/v1/members')
export class MembersController {
  @Get()
  @Route({ access: 'member:read', summary: 'List members', answer: MemberPage })
  async list(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await tenant.read((sql) => listMembers(sql, query)), memberView);
  }

  @Get(':userId')
  @Route({
    access: 'member:read',
    summary: 'Read a member',
    answer: MemberDto,
    refuses: ['member.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() { userId }: MemberPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, memberView(await tenant.read((sql) => requireMember(sql, userId))));
  }

  @Patch(':userId')
  @Route({
    access: 'member:write',
    summary: "Change a member's role; owners by owners only",
    answer: MemberDto,
    refuses: ['member.not_found', 'member.last_owner', 'member.no_owner'],
  })
  async patch(
    @CurrentTenant() tenant: Tenant,
    @Param() { userId }: MemberPath,
    @Body() { role }: PatchMemberBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const wish = { userId, role, byRole: tenant.actor.role, ifVersion };
    await changeMemberRole(accessPorts(tenant), wish);
    const changed = await tenant.read((sql) => requireMember(sql, userId));
    return tagged(reply, memberView(changed));
  }

  @Delete(':userId')
  @Route({
    access: 'member:write',
    summary: 'Remove a member with its tokens and invitations; the last owner stays',
    status: 204,
    refuses: ['member.not_found', 'member.last_owner'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() { userId }: MemberPath,
    @IfMatch() ifVersion: number | undefined,
  ): Promise<void> {
    await removeMember(accessPorts(tenant), { userId, byRole: tenant.actor.role, ifVersion });
  }
}
