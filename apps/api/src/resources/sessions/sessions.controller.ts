import { Bug, StorageFault } from '@holdfast/core/model/faults.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { hashPassword, hashSecret, verifyPassword } from '@holdfast/database/credentials.js';
import { type AuditEntry, writeAuditEntry } from '@holdfast/database/queries/audit.js';
import { findMember } from '@holdfast/database/queries/members.js';
import { findOrganization, setPasswordHash } from '@holdfast/database/queries/tenancy.js';
import {
  deleteToken,
  endOtherSessions,
  findSignIn,
  hasPassword,
  listTokens,
  replaceSessionSecret,
  type SignInCandidate,
} from '@holdfast/database/queries/tokens.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Delete, Get, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { assertNoOtherSite } from '../../access/authenticator.js';
import { CurrentTenant } from '../../access/caller.js';
import { cookieName, cookieOptions } from '../../access/cookies.js';
import { RefusedSignIns } from '../../access/refused-sign-ins.js';
import { Route } from '../../access/route.decorator.js';
import { SignInLimits } from '../../access/sign-in-limits.js';
import type { Tenant } from '../../access/tenant.js';
import { newTokenSecret } from '../../access/token-secret.js';
import type { Config } from '../../config/config.js';
import { Databases } from '../../http/databases.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { CONFIG } from '../../http/tokens.js';
import { traceIdOf } from '../../http/trace-id.js';
import { endedMeanwhile, openSession } from './open-session.js';
import {
  ChangePasswordBody,
  SessionDto,
  SignInBody,
  TokenPage,
  TokenPath,
  WhoAmIDto,
} from './session.schemas.js';
import { ownTokensFor, tokenView } from './tokens.controller.js';

/** A user with a password. */
type ProvenUser = SignInCandidate & { password_hash: string };

@Controller('api/v1/sessions')
export class SessionsController {
  /** Compared with if there is no such user, so that the duration reveals nothing. */
  private readonly placeholderHash = hashPassword(systemRandom.secret());

  private readonly limits: SignInLimits;

  constructor(
    private readonly databases: Databases,
    @Inject(CONFIG) private readonly config: Config,
    private readonly refusedSignIns: RefusedSignIns,
  ) {
    this.limits = new SignInLimits(databases.signIn);
  }

  @Post()
  @Route({
    access: 'public',
    summary: 'Sign in',
    answer: SessionDto,
    status: 201,
    refuses: ['auth.invalid', 'auth.forbidden', 'request.rate_limited'],
  })
  async signIn(@Body() body: SignInBody, @Res({ passthrough: true }) reply: FastifyReply) {
    assertNoOtherSite(reply.request);
    const user = await this.checkSignIn(body, reply.request);
    const { user_id: userId, organization_id: organizationId, role } = user;
    const scope = this.databases.organization(organizationId);
    const audit = signInEntry(user, reply.request);
    const session = { userId, organizationId, role };
    const { secret, expiresAt } = await this.refusedSignIns.noting(
      reply.request,
      this.attemptedBy(body),
      () =>
        openSession(scope, session, {
          audit,
          isStillProven: (sql) => hasPassword(sql, { email: body.email, userId, hash: user.password_hash }),
          config: this.config,
          reply,
        }),
    );
    return {
      token: secret,
      expiresAt: expiresAt.toISOString(),
      ...session,
    };
  }

  @Get('current')
  @Route({ access: 'organization:read', summary: 'Who am I?', answer: WhoAmIDto })
  async whoAmI(@CurrentTenant() tenant: Tenant) {
    const { userId, organizationId, role, tokenId } = tenant.actor;
    return tenant.read(async (sql) => {
      const member = await findMember(sql, userId);
      const organization = await findOrganization(sql, organizationId);
      if (member === undefined || organization === undefined)
        throw new Bug('a token without a user was let in');
      const { email, name } = member;
      return { userId, email, name, organizationId, organizationName: organization.name, role, tokenId };
    });
  }

  @Get()
  @Route({ access: 'token:own', summary: "List the caller's sessions", answer: TokenPage })
  async list(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    const owner = { ...ownTokensFor(tenant), kind: 'session' as const };
    return pageView(await tenant.read((sql) => listTokens(sql, owner, query)), tokenView);
  }

  @Delete(':tokenId')
  @Route({
    access: 'token:own',
    summary: 'End a session of the caller',
    status: 204,
    refuses: ['token.not_found'],
  })
  async end(@CurrentTenant() tenant: Tenant, @Param() { tokenId }: TokenPath): Promise<void> {
    const owner = { ...ownTokensFor(tenant), kind: 'session' as const };
    const found = await tenant.write((sql) => deleteToken(sql, owner, tokenId));
    if (!found)
      throw new StorageFault('token.not_found', { publicMessage: `there is no session ${tokenId}` });
  }

  @Post('password')
  @Route({
    access: 'token:own',
    summary: "Change the caller's password; all other sessions end",
    status: 204,
    refuses: ['auth.invalid', 'request.rate_limited', 'request.invalid'],
  })
  async changePassword(
    @CurrentTenant() tenant: Tenant,
    @Body() { currentPassword, newPassword }: ChangePasswordBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { userId, tokenId } = tenant.actor;
    const member = await tenant.read((sql) => findMember(sql, userId));
    if (member === undefined) throw new Bug('a token without a user was let in');
    // Its e-mail address comes from a provider, and may be that of another account.
    if (member.isManaged) throw noPassword();
    const { email } = member;
    const attempt = { account: email, address: reply.request.ip };
    const { password_hash: from } = await this.limits.attempt(attempt, () =>
      this.checkPassword({ email, password: currentPassword, organizationId: tenant.actor.organizationId }),
    );
    requireOtherPassword({ currentPassword, newPassword, email });
    const hash = await hashPassword(newPassword);
    const secret = this.isByCookie(tenant, reply.request) ? newTokenSecret('session') : undefined;
    // As the system: a user belongs to no organization alone, and has sessions in others.
    await transaction(this.databases.system(), async (sql) => {
      if (!(await setPasswordHash(sql, userId, { from, to: hash }))) throw endedMeanwhile();
      await endOtherSessions(sql, userId, tokenId);
      if (secret !== undefined) await replaceSessionSecret(sql, tokenId, secret);
      await writeAuditEntry(sql, tenant.auditEntry());
    });
    if (secret !== undefined) this.setCookie(reply, secret, tenant.actor.expiresAt);
  }

  /** A browser gets the new secret by the answer's cookie; a program that sends its secret in a header would lose its session. */
  private isByCookie({ actor }: Tenant, request: FastifyRequest): boolean {
    const cookie = request.cookies[cookieName('session', request, this.config)];
    return actor.tokenKind === 'session' && cookie !== undefined && hashSecret(cookie) === actor.secretHash;
  }

  private setCookie(reply: FastifyReply, secret: string, expires: Date | undefined): void {
    const { request } = reply;
    const options = { ...cookieOptions(request, this.config), ...(expires === undefined ? {} : { expires }) };
    void reply.setCookie(cookieName('session', request, this.config), secret, options);
  }

  /** Ends the session, or revokes the token, that the request was made with. */
  @Delete()
  @Route({ access: 'token:own', summary: 'Sign out', status: 204 })
  async signOut(
    @CurrentTenant() tenant: Tenant,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { userId, tokenId } = tenant.actor;
    await tenant.write((sql) => deleteToken(sql, { userId }, tokenId));
    const { request } = reply;
    void reply.clearCookie(cookieName('session', request, this.config), cookieOptions(request, this.config));
  }

  private checkSignIn(body: SignInBody, request: FastifyRequest): Promise<ProvenUser> {
    const attempted = this.attemptedBy(body);
    return this.refusedSignIns.attempt(request, this.limits, attempted, () => this.checkPassword(body));
  }

  private attemptedBy({ email, organizationId }: SignInBody) {
    return { account: email, find: () => this.refusedSignIns.findAccount(email, organizationId) };
  }

  private async checkPassword({ email, password, organizationId }: SignInBody): Promise<ProvenUser> {
    const candidate = await findSignIn(this.databases.signIn, { email, organizationId });
    const hash = candidate?.password_hash ?? (await this.placeholderHash);
    const isRight = await verifyPassword(hash, password);
    if (!isRight || candidate === undefined || candidate.password_hash === null) {
      throw new StorageFault('auth.invalid', { publicMessage: 'e-mail address or password is wrong' });
    }
    return { ...candidate, password_hash: hash };
  }
}

/** Audit entry of a sign-in. */
function signInEntry(user: SignInCandidate, request: FastifyRequest): AuditEntry {
  return {
    organizationId: user.organization_id,
    actor: { kind: 'user/session', id: user.user_id },
    address: request.ip,
    action: 'POST /api/v1/sessions',
    target: { kind: 'user', id: user.user_id },
    requestId: request.id,
    traceId: traceIdOf(request),
    detail: {},
    at: systemClock.now(),
  };
}

function noPassword(): StorageFault {
  return new StorageFault('auth.invalid', {
    publicMessage: "the organization's sign-in provider vouches for this account, which has no password",
    cures: ['change the password at the provider'],
  });
}

function requireOtherPassword(given: { currentPassword: string; newPassword: string; email: string }): void {
  const [name = ''] = given.email.toLowerCase().split('@');
  const isOld = given.newPassword === given.currentPassword;
  if (!isOld && !given.newPassword.toLowerCase().includes(name)) return;
  const detail = isOld ? 'is the password as it is' : "must not hold the account's name";
  throw new StorageFault('request.invalid', {
    publicMessage: `newPassword ${detail}`,
    errors: [{ pointer: '/newPassword', detail }],
  });
}
