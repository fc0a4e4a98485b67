import { decideAcceptance, decideJoining } from '@holdfast/access/decide-acceptance.js';
import { inviteMember, withdrawInvitation } from '@holdfast/control/use-cases/invite-member.js';
import { faultOf, hasToAct } from '@holdfast/control/use-cases/use-case.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type InvitationId, type UserId } from '@holdfast/core/model/ids.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { hashPassword, verifyPassword } from '@holdfast/database/credentials.js';
import { type AuditEntry, writeAuditEntry } from '@holdfast/database/queries/audit.js';
import {
  type Acceptor,
  acceptInvitation,
  findOpenInvitation,
  type InvitationRow,
  listInvitations,
  type OpenInvitation,
} from '@holdfast/database/queries/invitations.js';
import { findOrganization } from '@holdfast/database/queries/tenancy.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Delete, Get, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { accessPorts } from '../../access/access-ports.js';
import { CurrentTenant } from '../../access/caller.js';
import { RefusedSignIns } from '../../access/refused-sign-ins.js';
import { Route } from '../../access/route.decorator.js';
import { SignInLimits } from '../../access/sign-in-limits.js';
import type { Tenant } from '../../access/tenant.js';
import { newInvitationSecret } from '../../access/token-secret.js';
import type { Config } from '../../config/config.js';
import { Databases } from '../../http/databases.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { CONFIG } from '../../http/tokens.js';
import { traceIdOf } from '../../http/trace-id.js';
import { requireInvitation } from './require-tenancy.js';
import {
  AcceptedDto,
  AcceptInvitationBody,
  CreateInvitationBody,
  InvitationDto,
  InvitationPage,
  InvitationPath,
  JoinBody,
  NewInvitationDto,
  OpenInvitationDto,
} from './tenancy.schemas.js';
import { invitationView } from './tenancy.view.js';

@Controller('api/v1/invitations')
export class InvitationsController {
  private readonly limits: SignInLimits;

  constructor(
    private readonly databases: Databases,
    private readonly refusedSignIns: RefusedSignIns,
    @Inject(CONFIG) private readonly config: Config,
  ) {
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
    const secret = newInvitationSecret();
    const invitation = await inviteMember(accessPorts(tenant), {
      id: asId<InvitationId>(tenant.newId()),
      secret,
      email,
      role,
      validHours,
      by: { organizationId, userId, role: byRole },
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
    await withdrawInvitation(accessPorts(tenant), invitationId);
  }

  /** By POST: an address, and with it the secret, would be kept in logs and histories. */
  @Post('read')
  @Route({
    access: 'public',
    summary: "Read an invitation's organization and role, by its secret",
    answer: OpenInvitationDto,
    refuses: ['invitation.not_found', 'request.rate_limited'],
  })
  async read(@Body() { secret }: JoinBody, @Req() request: FastifyRequest) {
    const { invitation } = await this.limits.attemptFrom(request.ip, () =>
      this.requireOpen(secret, systemClock.now()),
    );
    const { organizationId, email, role, expiresAt } = invitation;
    const organization = await transaction(this.databases.system(), (sql) =>
      findOrganization(sql, organizationId),
    );
    if (organization === undefined) throw notOpen();
    const page = new URL('/invitation', this.config.consoleUrl ?? `${request.protocol}://${request.host}`);
    // In the fragment, which browsers do not send.
    page.hash = secret;
    const { name: organizationName } = organization;
    return {
      organizationId,
      organizationName,
      email,
      role,
      expiresAt: expiresAt.toISOString(),
      page: page.href,
    };
  }

  /** Without a token: the secret names the invited address. A user with an account authenticates to it. */
  @Post('accept')
  @Route({
    access: 'public',
    summary: 'Join an organization with the secret of an invitation',
    answer: AcceptedDto,
    status: 201,
    refuses: ['auth.invalid', 'invitation.not_found', 'invitation.needs_session', 'request.rate_limited'],
  })
  async accept(@Body() body: AcceptInvitationBody, @Req() request: FastifyRequest) {
    const at = systemClock.now();
    const { secret } = body;
    const open = await this.refusedSignIns.attempt(request, this.limits, { account: secret }, () =>
      this.requireOpen(secret, at),
    );
    const acceptor = await this.acceptorOf(open, body, request);
    return this.refusedSignIns.noting(request, { account: secret }, () =>
      this.join(open.invitation, acceptor, {
        actor: { kind: 'user/invitation', id: acceptor.id },
        address: request.ip,
        action: 'POST /api/v1/invitations/accept',
        requestId: request.id,
        traceId: traceIdOf(request),
        at,
      }),
    );
  }

  /** For accounts without a password, which authenticate by a session. */
  @Post('join')
  @Route({
    access: 'token:own',
    summary: 'Join an organization with the secret of an invitation, as the signed-in user',
    answer: AcceptedDto,
    status: 201,
    refuses: ['invitation.not_found', 'request.rate_limited'],
  })
  async joinBySession(
    @CurrentTenant() tenant: Tenant,
    @Body() { secret }: JoinBody,
    @Req() request: FastifyRequest,
  ) {
    const { userId: id, tokenKind } = tenant.actor;
    const { now } = tenant;
    // A refusal is recorded as for any write of the caller.
    const invitation = await this.limits.attempt({ account: secret, address: request.ip }, async () => {
      const open = await this.requireOpen(secret, now);
      hasToAct(decideJoining({ isSession: tokenKind === 'session', isInvited: open.account?.id === id }));
      return open.invitation;
    });
    return this.join(invitation, { kind: 'known', id }, tenant.auditEntry());
  }

  private async requireOpen(secret: string, now: Date): Promise<OpenInvitation> {
    const open = await transaction(this.databases.system(), (sql) => findOpenInvitation(sql, secret, now));
    if (open === undefined) throw notOpen();
    return open;
  }

  /** @throws StorageFault `auth.invalid`, `invitation.needs_session` when the password is not the account's */
  private async acceptorOf(
    { invitation: { email }, account }: OpenInvitation,
    { name, password }: AcceptInvitationBody,
    request: FastifyRequest,
  ): Promise<Acceptor> {
    const hash = account?.passwordHash ?? undefined;
    const use = decideAcceptance(account && { hasPassword: hash !== undefined });
    const attempted = { account: email, find: () => this.refusedSignIns.findAccount(email) };
    if (use.kind === 'refuse') {
      this.refusedSignIns.note(request, { ...attempted, reason: use.code });
      throw faultOf(use);
    }
    if (account === undefined || hash === undefined) {
      const id = asId<UserId>(systemRandom.id());
      return { kind: 'new', id, name, passwordHash: await hashPassword(password) };
    }
    // Counted for the account as a sign-in: otherwise each invitation would allow ten more guesses at its password.
    await this.refusedSignIns.attempt(request, this.limits, attempted, async () => {
      if (!(await verifyPassword(hash, password))) throw wrongPassword();
    });
    return { kind: 'known', id: account.id };
  }

  private async join(
    invitation: InvitationRow,
    acceptor: Acceptor,
    audit: Omit<AuditEntry, 'organizationId' | 'target' | 'detail'>,
  ) {
    const { organizationId, email, role } = invitation;
    await transaction(this.databases.system(), async (sql) => {
      const outcome = await acceptInvitation(sql, invitation, acceptor, audit.at);
      if (outcome === 'used') throw notOpen();
      if (outcome === 'account_made') throw accountMade();
      await writeAuditEntry(sql, {
        ...audit,
        organizationId,
        target: { kind: 'invitation', id: invitation.id },
        detail: { email, role },
      });
    });
    return { organizationId, userId: acceptor.id, email, role };
  }
}

function accountMade(): StorageFault {
  return new StorageFault('store.conflict', {
    publicMessage: 'the address was given an account at the same moment',
    cures: ['try again'],
  });
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
