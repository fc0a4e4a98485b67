import { faultOf } from '@holdfast/control/use-cases/use-case.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type OrganizationId, type UserId } from '@holdfast/core/model/ids.js';
import { decideProviderSignIn, roleByGroups } from '@holdfast/core/policy/decide-provider-sign-in.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import type { AuditEntry } from '@holdfast/database/queries/audit.js';
import { enterByProvider, findOrganizationByName } from '@holdfast/database/queries/provider-accounts.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { cookieName, cookieOptions } from '../auth/cookies.js';
import { openSession } from '../auth/open-session.js';
import { RefusedSignIns } from '../auth/refused-sign-ins.js';
import type { Config } from '../config.js';
import { Databases } from '../platform/databases.js';
import { dto } from '../platform/dto.js';
import { RefusedWrites } from '../platform/refused-writes.js';
import { Route } from '../platform/route.decorator.js';
import { CONFIG, LOGGER } from '../platform/tokens.js';
import { traceIdOf } from '../platform/trace-id.js';
import { attemptSchema, OidcClient, type ProviderUser } from './oidc-client.js';
import type { OidcConfig } from './oidc-config.js';
import { CookieSeal } from './sealed-cookie.js';

/** As long as a user may take at the provider. */
const ATTEMPT_MS = 10 * 60_000;
/** As long as the console may take to ask why it was refused. */
const TOLD_MS = 60_000;
const ACTION = 'GET /api/v1/oidc/callback';

class OidcDto extends dto(
  z
    .object({
      name: z.string().nullable().describe('What users know the provider by; null: there is none.'),
      refused: z
        .string()
        .nullable()
        .describe("Why this browser's last sign-in there was refused, told once; null: it was not."),
    })
    .meta({ id: 'SignInProvider' }),
) {}

const refusalSchema = z.object({ refused: z.string() });

type Provider = { readonly config: OidcConfig; readonly client: OidcClient; readonly seal: CookieSeal };

/** Sign-in by an OpenID provider (ADR 0194). */
@Controller('api/v1/oidc')
export class OidcController {
  private readonly configured: Provider | undefined;

  constructor(
    private readonly databases: Databases,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly refused: RefusedWrites,
    private readonly refusedSignIns: RefusedSignIns,
  ) {
    const { oidc } = config;
    if (oidc === undefined) return;
    this.configured = { config: oidc, client: new OidcClient(oidc), seal: new CookieSeal(oidc.clientSecret) };
  }

  @Get()
  @Route({ access: 'public', summary: 'By which provider may users sign in?', answer: OidcDto })
  provider(@Res({ passthrough: true }) reply: FastifyReply) {
    if (this.configured === undefined) return { name: null, refused: null };
    const { config, seal } = this.configured;
    const told = refusalSchema.safeParse(seal.open(this.cookieOf(reply.request), systemClock.now()));
    if (told.success) this.clearCookie(reply);
    return { name: config.name, refused: told.data?.refused ?? null };
  }

  @Get('start')
  @Route({
    access: 'public',
    summary: 'Send the browser to the provider',
    status: 303,
    refuses: ['auth.no_provider', 'auth.provider_failed'],
  })
  async start(@Res() reply: FastifyReply): Promise<void> {
    const { client, seal } = this.requireProvider();
    const { url, attempt } = await client.begin().catch((error: unknown) => {
      throw this.failed(error);
    });
    const endsAt = new Date(systemClock.now().getTime() + ATTEMPT_MS);
    this.setCookie(reply, seal.seal(attempt, endsAt), endsAt);
    await reply.redirect(url.href, 303);
  }

  /** The browser comes back. Whatever happens, it is sent on to the console, which says what was refused. */
  @Get('callback')
  @Route({
    access: 'public',
    summary: 'End a sign-in that began with `start`',
    status: 303,
    refuses: ['auth.no_provider'],
  })
  async callback(@Res() reply: FastifyReply): Promise<void> {
    const provider = this.requireProvider();
    this.clearCookie(reply);
    try {
      await this.enter(provider, await this.answerOf(provider, reply.request), reply);
      await reply.redirect(new URL('/', provider.config.consoleUrl).href, 303);
    } catch (error) {
      if (!isFault(error)) throw error;
      if (error.code !== 'auth.forbidden') this.noteFailed(reply.request, error.code);
      // Not in the address: a link could tell anything there in this console's name.
      const endsAt = new Date(systemClock.now().getTime() + TOLD_MS);
      const sealed = provider.seal.seal({ refused: error.details.publicMessage }, endsAt);
      this.setCookie(reply, sealed, endsAt);
      await reply.redirect(new URL('/sign-in', provider.config.consoleUrl).href, 303);
    }
  }

  /** The provider did not say who it was; whom its rules refuse is told of where they are read. */
  private noteFailed(request: FastifyRequest, reason: string): void {
    this.refusedSignIns.note(request, { reason, account: '' });
  }

  private async answerOf({ client, seal }: Provider, request: FastifyRequest): Promise<ProviderUser> {
    const opened = seal.open(this.cookieOf(request), systemClock.now());
    const attempt = attemptSchema.safeParse(opened);
    if (!attempt.success) {
      throw new StorageFault('auth.invalid', {
        publicMessage: 'the sign-in has taken too long, or began elsewhere',
      });
    }
    const search = request.url.slice(request.url.indexOf('?'));
    return client.end(search, attempt.data).catch((error: unknown) => {
      throw this.failed(error);
    });
  }

  private async enter({ config }: Provider, user: ProviderUser, reply: FastifyReply): Promise<void> {
    const { rules, organization, issuer } = config;
    const system = this.databases.system();
    const organizationId = await transaction(system, (sql) => findOrganizationByName(sql, organization));
    if (organizationId === undefined)
      throw this.failed(new Error(`there is no organization ${organization}`));
    const { claims, subject } = user;
    const decision = decideProviderSignIn(claims, rules);
    const role = roleByGroups(claims, rules);
    if (decision.kind === 'refuse' || role === undefined || claims.email === undefined) {
      const entry = auditOf(organizationId, { kind: 'provider', id: subject }, reply.request);
      this.refused.note({ ...entry, detail: { email: claims.email ?? null }, reason: 'auth.forbidden' });
      throw decision.kind === 'refuse'
        ? faultOf(decision)
        : this.failed(new Error('no role, and no refusal'));
    }
    const { email } = claims;
    const account = { issuer: issuer.href, subject, email, name: user.name ?? email, organizationId, role };
    const made = { newUserId: asId<UserId>(systemRandom.id()), now: systemClock.now() };
    const entered = await transaction(system, (sql) => enterByProvider(sql, { ...account, ...made }));
    const audit = auditOf(organizationId, { kind: 'user/session', id: entered.userId }, reply.request);
    const scope = this.databases.organization(organizationId);
    const detail = { provider: issuer.href, role: entered.role };
    await openSession(
      scope,
      { ...entered, organizationId },
      { audit: { ...audit, detail }, config: this.config, reply },
    );
  }

  private cookieOf(request: FastifyRequest): string {
    return request.cookies[cookieName('oidc', request, this.config)] ?? '';
  }

  private setCookie(reply: FastifyReply, value: string, expires: Date): void {
    const { request } = reply;
    const options = { ...cookieOptions(request, this.config), expires };
    void reply.setCookie(cookieName('oidc', request, this.config), value, options);
  }

  private clearCookie(reply: FastifyReply): void {
    const { request } = reply;
    void reply.clearCookie(cookieName('oidc', request, this.config), cookieOptions(request, this.config));
  }

  private requireProvider(): Provider {
    if (this.configured !== undefined) return this.configured;
    throw new StorageFault('auth.no_provider', { publicMessage: 'no sign-in provider is configured' });
  }

  /** What a provider says goes into the log, and not to the browser. */
  private failed(error: unknown): StorageFault {
    this.logger.warn({ err: error }, 'a sign-in by the provider has failed');
    return new StorageFault('auth.provider_failed', {
      publicMessage: 'the sign-in provider did not answer as it has to',
      cures: ['try again', "ask who runs this installation to look into the api's log"],
    });
  }
}

function auditOf(
  organizationId: OrganizationId,
  actor: AuditEntry['actor'],
  request: FastifyRequest,
): AuditEntry {
  return {
    organizationId,
    actor,
    address: request.ip,
    action: ACTION,
    target: { kind: 'user', id: actor.id },
    requestId: request.id,
    traceId: traceIdOf(request),
    detail: {},
    at: systemClock.now(),
  };
}
