import { Bug, StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type TokenId } from '@holdfast/core/model/ids.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { hashPassword, verifyPassword } from '@holdfast/database/credentials.js';
import { findMember, findOrganization } from '@holdfast/database/queries/tenancy.js';
import {
  createToken,
  deleteToken,
  findSignIn,
  type SignInCandidate,
} from '@holdfast/database/queries/tokens.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Delete, Get, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Config } from '../config.js';
import { Databases } from '../platform/databases.js';
import { CurrentTenant } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import type { Tenant } from '../platform/tenant.js';
import { CONFIG } from '../platform/tokens.js';
import { SESSION_COOKIE } from './authenticator.js';
import { SessionDto, SignInBody, WhoAmIDto } from './session.schemas.js';
import { newTokenSecret } from './token-secret.js';

const SESSION_HOURS = 24 * 7;

@Controller('api/v1/sessions')
export class SessionsController {
  /** Compared with when there is no such user, so that the time taken tells nothing. */
  private readonly placeholderHash = hashPassword(systemRandom.secret());

  constructor(
    private readonly databases: Databases,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Post()
  @Route({ access: 'public', summary: 'Sign in', answer: SessionDto, status: 201, refuses: ['auth.invalid'] })
  async signIn(@Body() body: SignInBody, @Res({ passthrough: true }) reply: FastifyReply) {
    const user = await this.checkPassword(body);
    const secret = newTokenSecret('session');
    const now = systemClock.now();
    const expiresAt = new Date(now.getTime() + SESSION_HOURS * 3_600_000);
    await transaction(this.databases.organization(user.organization_id), (sql) =>
      createToken(sql, {
        id: asId<TokenId>(systemRandom.id()),
        organizationId: user.organization_id,
        kind: 'session',
        name: 'session',
        secret,
        role: user.role,
        userId: user.user_id,
        clusterId: undefined,
        projectId: undefined,
        expiresAt,
        now,
      }),
    );
    void reply.setCookie(SESSION_COOKIE, secret, { ...this.cookieOptions(), expires: expiresAt });
    return {
      token: secret,
      expiresAt: expiresAt.toISOString(),
      userId: user.user_id,
      organizationId: user.organization_id,
      role: user.role,
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

  /** Ends the session, or revokes the token, that the request was made with. */
  @Delete()
  @Route({ access: 'token:own', summary: 'Sign out', status: 204 })
  async signOut(
    @CurrentTenant() tenant: Tenant,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { userId, tokenId } = tenant.actor;
    await tenant.write((sql) => deleteToken(sql, { userId }, tokenId));
    void reply.clearCookie(SESSION_COOKIE, this.cookieOptions());
  }

  private async checkPassword({ email, password }: SignInBody): Promise<SignInCandidate> {
    const candidate = await findSignIn(this.databases.signIn, email);
    const hash = candidate?.password_hash ?? (await this.placeholderHash);
    const isRight = await verifyPassword(hash, password);
    if (!isRight || candidate === undefined || candidate.password_hash === null) {
      throw new StorageFault('auth.invalid', { publicMessage: 'e-mail address or password is wrong' });
    }
    return candidate;
  }

  private cookieOptions() {
    return { path: '/', httpOnly: true, sameSite: 'lax', secure: this.config.cookieSecure } as const;
  }
}
