/** The organizations of a user, and the switch of a session to another one. */

import { ORGANIZATION_ROLES } from '@holdfast/access/permissions.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { writeAuditEntry } from '@holdfast/database/queries/audit.js';
import { listMemberships } from '@holdfast/database/queries/members.js';
import { deleteToken } from '@holdfast/database/queries/tokens.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Controller, Get, Inject, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import type { Config } from '../../config/config.js';
import { Databases } from '../../http/databases.js';
import { dto } from '../../http/dto.js';
import { id, pageOf, uuid } from '../../http/schemas.js';
import { CONFIG } from '../../http/tokens.js';
import { openSession } from './open-session.js';
import { SessionDto } from './session.schemas.js';

const membershipSchema = z
  .object({
    id: uuid.describe('Id of the organization.'),
    name: z.string().describe("The organization's name."),
    role: z.enum(ORGANIZATION_ROLES).describe("The user's role in it."),
  })
  .meta({ id: 'SessionOrganization' });

class MembershipPage extends dto(pageOf(membershipSchema, 'SessionOrganizationList')) {}
class OrganizationPath extends dto(
  z.object({ organizationId: id<OrganizationId>().describe('Id of the organization.') }),
) {}

@Controller('api/v1/sessions/organizations')
export class SessionOrganizationsController {
  constructor(
    private readonly databases: Databases,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** All of them at once: a user belongs to a few. A token for programs belongs to one organization only. */
  @Get()
  @Route({
    access: 'organization:read',
    summary: 'List the organizations that the session can be switched to',
    answer: MembershipPage,
  })
  async list(@CurrentTenant() tenant: Tenant) {
    const { tokenKind, organizationId } = tenant.actor;
    const found = await this.memberships(tenant);
    const items = tokenKind === 'session' ? found : found.filter((one) => one.id === organizationId);
    return { items, nextCursor: null };
  }

  @Post(':organizationId')
  @Route({
    access: 'token:own',
    summary: 'Switch the session to another organization of its user; the previous session ends',
    answer: SessionDto,
    status: 201,
    refuses: ['organization.not_found', 'auth.forbidden'],
  })
  async switch(
    @CurrentTenant() tenant: Tenant,
    @Param() { organizationId }: OrganizationPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { userId, tokenId, tokenKind } = tenant.actor;
    const wanted = (await this.memberships(tenant)).find((one) => one.id === organizationId);
    if (wanted === undefined) {
      throw new StorageFault('organization.not_found', {
        publicMessage: `there is no organization ${organizationId} that you belong to`,
      });
    }
    if (tokenKind !== 'session') {
      throw new StorageFault('auth.forbidden', {
        publicMessage: 'a token is of one organization: make one there',
      });
    }
    const session = { userId, organizationId: wanted.id, role: wanted.role };
    const audit = { ...tenant.auditEntry(), organizationId: wanted.id };
    // As the system: the two sessions are of different organizations. The old one is replaced, so an ended one can not be switched.
    const { secret, expiresAt } = await openSession(this.databases.system(), session, {
      audit,
      isStillProven: async (sql) => {
        await writeAuditEntry(sql, tenant.auditEntry());
        return deleteToken(sql, { userId, kind: 'session' }, tokenId);
      },
      config: this.config,
      reply,
    });
    return { token: secret, expiresAt: expiresAt.toISOString(), ...session };
  }

  /** As the system: row-level security hides other organizations. */
  private memberships({ actor }: Tenant) {
    return transaction(this.databases.system(), (sql) => listMemberships(sql, actor.userId));
  }
}
