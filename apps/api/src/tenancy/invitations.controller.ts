import { hasToAct } from '@holdfast/control/use-cases/use-case.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type InvitationId, type UserId } from '@holdfast/core/model/ids.js';
import { decideRoleChange } from '@holdfast/core/policy/decide-membership.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { hashPassword, verifyPassword } from '@holdfast/database/credentials.js';
import { writeAuditEntry } from '@holdfast/database/queries/audit.js';
import {
  acceptInvitation,
  createInvitation,
  deleteInvitation,
  findOpenInvitation,
  listInvitations,
} from '@holdfast/database/queries/invitations.js';
import { hasMember } from '@holdfast/database/queries/members.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Delete, Get, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { SignInLimits } from '../auth/sign-in-limits.js';
import { newInvitationSecret } from '../auth/token-secret.js';
import { Databases } from '../platform/databases.js';
import { CurrentTenant } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import { ListQuery, pageView } from '../platform/schemas.js';
import type { Tenant } from '../platform/tenant.js';
import { requireInvitation, there } from './require-tenancy.js';
import {
  AcceptedDto,
  AcceptInvitationBody,
  CreateInvitationBody,
  InvitationDto,
  InvitationPage,
  InvitationPath,
  NewInvitationDto,
} from './tenancy.schemas.js';
import { invitationView } from './tenancy.view.js';

const HOUR_MS = 3_600_000;

@Controller('api/v1/invitations')
export class InvitationsController {
  private readonly limits: SignInLimits;

  constructor(private readonly databases: Databases) {
    this.limits = new SignInLimits(databases.signIn);
  }

  @Get()
  @Route({ access: 'member:read', summary: 'List invitations', answer: InvitationPage })
  async list(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await tenant.read((sql) => listInvitations(sql, query)), invitationView);
  }

  @Post()
  @Route({
    access: 'member:write',
    summary: 'Invite a user; an earlier invitation for the address stops working',
    answer: NewInvitationDto,
    status: 201,
    answersSecret: true,
    refuses: ['member.exists', 'idempotency.secret_not_kept'],
  })
  async create(@CurrentTenant() tenant: Tenant, @Body() { email, role, validHours }: CreateInvitationBody) {
    const { organizationId, userId, role: byRole } = tenant.actor;
    const newcomer = { before: undefined, otherOwners: 1, isServiceAccount: false, isManaged: false };
    hasToAct(decideRoleChange({ ...newcomer, byRole, after: role }));
    const invitation = {
      id: asId<InvitationId>(tenant.newId()),
      organizationId,
      email,
      role,
      invitedBy: userId,
      createdAt: tenant.now,
      expiresAt: new Date(tenant.now.getTime() + validHours * HOUR_MS),
    };
    const secret = newInvitationSecret();
    await tenant.write(async (sql) => {
      if (await hasMember(sql, email)) {
        throw new StorageFault('member.exists', { publicMessage: `${email} belongs to the organization` });
      }
      await createInvitation(sql, { ...invitation, secret });
    });
    return { ...invitationView(invitation), secret };
  }

  @Get(':invitationId')
  @Route({
    access: 'member:read',
    summary: 'Read an invitation',
    answer: InvitationDto,
    refuses: ['invitation.not_found'],
  })
  async get(@CurrentTenant() tenant: Tenant, @Param() { invitationId }: InvitationPath) {
    return invitationView(await tenant.read((sql) => requireInvitation(sql, invitationId)));
  }

  @Delete(':invitationId')
  @Route({
    access: 'member:write',
    summary: 'Withdraw an invitation; its secret stops working',
    status: 204,
    refuses: ['invitation.not_found'],
  })
  async delete(@CurrentTenant() tenant: Tenant, @Param() { invitationId }: InvitationPath): Promise<void> {
    await tenant.write(async (sql) => {
      there((await deleteInvitation(sql, invitationId)) || undefined, 'invitation', invitationId);
    });
  }

  /** Without a token: the secret says whom it is for. Who has an account already proves that it is theirs. */
  @Post('accept')
  @Route({
    access: 'public',
    summary: 'Join an organization with the secret of an invitation',
    answer: AcceptedDto,
    status: 201,
    refuses: ['auth.invalid', 'invitation.not_found', 'request.rate_limited'],
  })
  async accept(@Body() body: AcceptInvitationBody, @Req() request: FastifyRequest) {
    const system = this.databases.system();
    const now = systemClock.now();
    const attempt = { account: body.secret, address: request.ip };
    const { invitation, account } = await this.limits.attempt(attempt, async () => {
      const open = await transaction(system, (sql) => findOpenInvitation(sql, body.secret, now));
      if (open === undefined) throw notOpen();
      const hash = open.account?.passwordHash ?? undefined;
      if (hash !== undefined && !(await verifyPassword(hash, body.password))) throw wrongPassword();
      const id = open.account?.id ?? asId<UserId>(systemRandom.id());
      const passwordHash = hash ?? (await hashPassword(body.password));
      return { invitation: open.invitation, account: { id, name: body.name, passwordHash } };
    });
    const { organizationId, email, role } = invitation;
    await transaction(system, async (sql) => {
      if (!(await acceptInvitation(sql, invitation, account, now))) throw notOpen();
      await writeAuditEntry(sql, {
        organizationId,
        actor: { kind: 'user/invitation', id: account.id },
        action: 'POST /api/v1/invitations/accept',
        target: { kind: 'invitation', id: invitation.id },
        requestId: request.id,
        detail: { email, role },
        at: now,
      });
    });
    return { organizationId, userId: account.id, email, role };
  }
}

function notOpen(): StorageFault {
  return new StorageFault('invitation.not_found', {
    publicMessage: 'there is no such invitation, or it has been used or has expired',
    cures: ['ask for another one'],
  });
}

function wrongPassword(): StorageFault {
  return new StorageFault('auth.invalid', {
    publicMessage: 'the address has an account already, with another password',
    cures: ['give the password that you sign in with'],
  });
}
