import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type OrganizationId, type UserId } from '@holdfast/core/model/ids.js';
import { isReturnPath } from '@holdfast/core/model/return-path.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { enterManaged } from '@holdfast/database/queries/managed-accounts.js';
import { enterByProvider, findOrganizationByName } from '@holdfast/database/queries/provider-accounts.js';
import { transaction } from '@holdfast/database/sql/scope.js';
import { Body, Controller, Get, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Route } from '../../access/route.decorator.js';
import { SignInLimits } from '../../access/sign-in-limits.js';
import type { Config } from '../../config/config.js';
import type { OidcConfig } from '../../config/oidc-config.js';
import { Databases } from '../../http/databases.js';
import { dto } from '../../http/dto.js';
import { id } from '../../http/schemas.js';
import { CONFIG } from '../../http/tokens.js';
import { OidcClient } from './oidc-client.js';
import { OrganizationProviders } from './organization-providers.js';
import { addressesToCall } from './provider-guard.js';
import { ProviderSignIns, type SignInEntry } from './provider-sign-ins.js';
import { CookieSeal } from './sealed-cookie.js';
import { callbackPathOf } from './sign-in-provider.schemas.js';

const CALLBACK = '/api/v1/oidc/callback';
/** Prefix of the cookie of a sign-in by an organization's provider. */
const ORGANIZATION_PREFIX = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\./;

class OidcDto extends dto(
  z
    .object({
      name: z.string().nullable().describe('Name of the provider for users; null: none is configured.'),
      refused: z
        .string()
        .nullable()
        .describe(
          "Reason for the refusal of this browser's last sign-in there, returned once; null: it was not refused.",
        ),
    })
    .meta({ id: 'SignInProvider' }),
) {}

const next = z
  .string()
  .refine(isReturnPath, 'must be a path of the console, such as /volumes')
  .default('/')
  .describe('Page of the console after the sign-in: its path, with its query. Left out: the first page.');

class BeginQuery extends dto(z.object({ next })) {}
class BeginBody extends dto(
  z.strictObject({
    organization: z.string().trim().min(1).max(63).describe('Exact name of the organization.'),
    next,
  }),
) {}
class CallbackPath extends dto(
  z.object({
    signInProviderId: id<OrganizationId>().describe("Id of the provider's organization."),
  }),
) {}
class BegunDto extends dto(
  z
    .object({ url: z.url().describe('URL at the provider to which the browser goes next.') })
    .meta({ id: 'BegunSignIn' }),
) {}

type InstallationEntry = SignInEntry & { readonly config: OidcConfig };

/** Sign-in by an OpenID provider: the installation's (docs/design/tenancy-and-access.md) or an organization's own (ADR 0242). */
@Controller('api/v1/oidc')
export class OidcController {
  private readonly configured: InstallationEntry | undefined;
  private readonly limits: SignInLimits;

  constructor(
    private readonly databases: Databases,
    @Inject(CONFIG) config: Config,
    private readonly signIns: ProviderSignIns,
    private readonly providers: OrganizationProviders,
  ) {
    this.limits = new SignInLimits(databases.signIn);
    if (config.oidc !== undefined) this.configured = this.entryOf(config.oidc);
  }

  @Get()
  @Route({ access: 'public', summary: 'Read the sign-in provider', answer: OidcDto })
  async provider(@Res({ passthrough: true }) reply: FastifyReply) {
    const entry = await this.entryOfCookie(reply.request);
    const refused = entry === undefined ? null : this.signIns.toldOnce(entry, reply);
    return { name: this.configured?.config.name ?? null, refused };
  }

  @Get('start')
  @Route({
    access: 'public',
    summary: 'Redirect the browser to the provider',
    status: 303,
    refuses: ['auth.no_provider', 'auth.provider_failed'],
  })
  async start(@Query() { next }: BeginQuery, @Res() reply: FastifyReply): Promise<void> {
    const entry = this.requireInstallation();
    const redirectUrl = this.signIns.consoleAt(CALLBACK, reply.request);
    const url = await this.signIns.begin(entry, { redirectUrl, next }, reply);
    await reply.redirect(url.href, 303);
  }

  /**
   * A missing organization is refused as one without a provider, and guesses are counted by address. By name, not by e-mail domain: any
   * organization may claim a domain, and would so lead another one's users to its provider.
   */
  @Post('start')
  @Route({
    access: 'public',
    summary: "Begin a sign-in by an organization's own provider",
    answer: BegunDto,
    status: 201,
    refuses: ['auth.no_provider', 'auth.provider_failed', 'request.rate_limited'],
  })
  async startForOrganization(
    @Body() { organization, next }: BeginBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { request } = reply;
    return this.limits.attemptFrom(request.ip, async () => {
      const entry = await this.providers.byName(organization);
      if (entry === undefined) throw noProvider(organization);
      const { organizationId } = entry.provider;
      const redirectUrl = this.signIns.consoleAt(callbackPathOf(organizationId), request);
      return { url: (await this.signIns.begin(entry, { redirectUrl, next }, reply)).href };
    });
  }

  @Get('callback')
  @Route({
    access: 'public',
    summary: 'End a sign-in that began with `start`',
    status: 303,
    refuses: ['auth.no_provider'],
  })
  async callback(@Res() reply: FastifyReply): Promise<void> {
    const entry = this.requireInstallation();
    await this.signIns.end(entry, reply, (user) => {
      const made = { newUserId: newUserId(), now: systemClock.now() };
      const account = { ...user, ...made, issuer: entry.config.issuer.href };
      return transaction(this.databases.system(), (sql) => enterByProvider(sql, account));
    });
  }

  /** An address of its own for each organization, so that no provider's answer is taken for another one's (RFC 9700, 4.4). */
  @Get('callback/:signInProviderId')
  @Route({
    access: 'public',
    summary: "End a sign-in by an organization's own provider",
    status: 303,
    refuses: ['sign_in_provider.not_found'],
  })
  async callbackOfOrganization(
    @Param() { signInProviderId }: CallbackPath,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const entry = await this.providers.byId(signInProviderId);
    if (entry === undefined) throw notThere(signInProviderId);
    await this.signIns.end(entry, reply, ({ subject, email, name }) => {
      const account = { subject, email, name, newUserId: newUserId(), now: systemClock.now() };
      return transaction(this.databases.system(), (sql) => enterManaged(sql, entry.provider, account));
    });
  }

  private entryOf(config: OidcConfig): InstallationEntry {
    const { issuer, organization, rules, clientId, clientSecret, groupsClaim } = config;
    const check = (url: URL) => addressesToCall(url, issuer);
    return {
      config,
      client: new OidcClient({ issuer, clientId, clientSecret, groupsClaim, check }),
      seal: new CookieSeal(clientSecret),
      rules,
      cookiePrefix: '',
      organization: () => this.organizationOf(organization),
    };
  }

  private async organizationOf(name: string): Promise<OrganizationId> {
    const found = await transaction(this.databases.system(), (sql) => findOrganizationByName(sql, name));
    if (found !== undefined) return found;
    throw this.signIns.failed(new Error(`there is no organization ${name}`));
  }

  /** The provider that sealed the browser's cookie. */
  private async entryOfCookie(request: FastifyRequest): Promise<SignInEntry | undefined> {
    const cookie = this.signIns.cookieOf(request);
    if (cookie === '') return undefined;
    const [, organizationId] = ORGANIZATION_PREFIX.exec(cookie) ?? [];
    return organizationId === undefined ? this.configured : this.providers.byId(asId(organizationId));
  }

  private requireInstallation(): InstallationEntry {
    if (this.configured !== undefined) return this.configured;
    throw new StorageFault('auth.no_provider', { publicMessage: 'no sign-in provider is configured' });
  }
}

function newUserId(): UserId {
  return asId<UserId>(systemRandom.id());
}

function notThere(id: OrganizationId): StorageFault {
  return new StorageFault('sign_in_provider.not_found', {
    publicMessage: `there is no sign-in provider ${id}`,
  });
}

function noProvider(organization: string): StorageFault {
  return new StorageFault('auth.no_provider', {
    publicMessage: `there is no sign-in provider for an organization ${organization}`,
    cures: ["spell the organization's name as its admins do", 'sign in with a password'],
  });
}
