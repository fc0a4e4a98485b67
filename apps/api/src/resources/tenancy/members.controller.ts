import { decideRoleChange } from '@holdfast/access/decide-membership.js';
import type { OrganizationRole } from '@holdfast/access/permissions.js';
import { assertVersion, hasToAct } from '@holdfast/control/use-cases/use-case.js';
import {
  listMembers,
  lockOwners,
  type MemberRow,
  removeMember,
  setMemberRole,
} from '@holdfast/database/queries/members.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Delete, Get, Param, Patch, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { IfMatch, tagged } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { noteEnded } from './hold-right.js';
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
    const changed = await tenant.write(async (sql) => {
      const { member, isChange } = await decided(sql, tenant, { userId, role, ifVersion });
      if (!isChange) return member;
      const { organizationId } = tenant.actor;
      await noteEnded(sql, tenant, await setMemberRole(sql, { organizationId, userId }, role));
      return requireMember(sql, userId);
    });
    return tagged(reply, memberView(changed));
  }

  @Delete(':userId')
  @Route({
    access: 'member:write',
    summary:
      'Remove a member, with the tokens, invitations and so on that it leaves behind; the last owner stays',
    status: 204,
    refuses: ['member.not_found', 'member.last_owner'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() { userId }: MemberPath,
    @IfMatch() ifVersion: number | undefined,
  ): Promise<void> {
    await tenant.write(async (sql) => {
      await decided(sql, tenant, { userId, role: undefined, ifVersion });
      const { organizationId } = tenant.actor;
      await noteEnded(sql, tenant, await removeMember(sql, { organizationId, userId }));
    });
  }
}

type Wanted = {
  userId: MemberRow['userId'];
  role: OrganizationRole | undefined;
  ifVersion: number | undefined;
};

/** The member as it is, once the change is allowed. Owners are locked: of two who step down at once one stays. */
async function decided(sql: Sql, { actor }: Tenant, { userId, role, ifVersion }: Wanted) {
  const owners = await lockOwners(sql);
  const member = await requireMember(sql, userId);
  assertVersion(member.version, ifVersion);
  const otherOwners = owners.filter((owner) => owner !== userId).length;
  const { isServiceAccount, isManaged, role: before } = member;
  const change = { byRole: actor.role, before, after: role, otherOwners, isServiceAccount, isManaged };
  const decision = decideRoleChange(change);
  return { member, isChange: hasToAct(decision) };
}
