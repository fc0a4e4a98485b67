/**
 * Sign-in at an OpenID provider, as far as it is the same for the installation's provider (docs/design/tenancy-and-access.md) and for those
 * of organizations (ADR 0242): the browser's cookie, the session at the end, and the message of a refusal.
 */

import {
  decideProviderSignIn,
  type ProviderRules,
  roleByGroups,
} from '@holdfast/access/decide-provider-sign-in.js';
import type { OrganizationRole } from '@holdfast/access/permissions.js';
import { faultOf } from '@holdfast/control/use-cases/use-case.js';
import { Bug, isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import { isReturnPath } from '@holdfast/core/model/return-path.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import type { AuditEntry } from '@holdfast/database/queries/audit.js';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { cookieName, cookieOptions } from '../../access/cookies.js';
import { RefusedSignIns } from '../../access/refused-sign-ins.js';
import { RefusedWrites } from '../../access/refused-writes.js';
import type { Config } from '../../config/config.js';
import { Databases } from '../../http/databases.js';
import { CONFIG, LOGGER } from '../../http/tokens.js';
import { traceIdOf } from '../../http/trace-id.js';
import { openSession } from '../sessions/open-session.js';
import { type Attempt, attemptSchema, isDenial, type OidcClient, type ProviderUser } from './oidc-client.js';
import type { CookieSeal } from './sealed-cookie.js';

/** Maximum time of a user at the provider. */
const ATTEMPT_MS = 10 * 60_000;
/** Maximum time until the console reads the reason for a refusal. */
const TOLD_MS = 60_000;
const FIRST_PAGE = '/';

/**
 * Content of a sign-in's cookie. It holds the page after the sign-in, which is not in the address at the provider, since a provider may log
 * addresses and return others. Validated at both ends; absent in a cookie sealed by an older API process.
 */
const sealedAttempt = attemptSchema.extend({ next: z.string().refine(isReturnPath).default(FIRST_PAGE) });

const refusalSchema = z.object({ refused: z.string() });

/** A provider for users' sign-in. */
export type SignInEntry = {
  readonly client: OidcClient;
  readonly seal: CookieSeal;
  readonly rules: ProviderRules;
  /** Prefix of the sealed cookie that names its provider; empty: the installation's. */
  readonly cookiePrefix: string;
  /** Its users' organization. */
  readonly organization: () => Promise<OrganizationId>;
};

/** A user admitted by the provider's rules. */
export type AdmittedUser = {
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly role: OrganizationRole;
  readonly organizationId: OrganizationId;
};

export type EnteredUser = {
  readonly userId: UserId;
  readonly role: OrganizationRole;
  /** The account had a password until now, which ended with its sessions. */
  readonly hasEndedAccess?: boolean;
};

type Going = { readonly redirectUrl: URL; readonly next: string };

@Injectable()
export class ProviderSignIns {
  constructor(
    private readonly databases: Databases,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly refused: RefusedWrites,
    private readonly refusedSignIns: RefusedSignIns,
  ) {}

  /**
   * Starts a sign-in: the browser gets a cookie, and the URL at the provider.
   *
   * @param going the redirect URL, and the console's page afterwards
   * @throws StorageFault `auth.provider_failed`
   */
  async begin(entry: SignInEntry, going: Going, reply: FastifyReply): Promise<URL> {
    const { redirectUrl, next } = going;
    const { url, attempt } = await entry.client.begin(redirectUrl).catch((error: unknown) => {
      throw this.failed(error);
    });
    this.seal(entry, { ...attempt, next }, { reply, ms: ATTEMPT_MS });
    return url;
  }

  /** Ends a sign-in. In any case the browser is redirected to the console, which shows a refusal. */
  async end(
    entry: SignInEntry,
    reply: FastifyReply,
    enter: (user: AdmittedUser) => Promise<EnteredUser>,
  ): Promise<void> {
    const { request } = reply;
    this.clearCookie(reply);
    const begun = sealedAttempt.safeParse(this.opened(entry, request)).data;
    const next = begun?.next ?? FIRST_PAGE;
    try {
      const user = await this.admitted(entry, await this.answerOf(entry, begun, request), request);
      const { organizationId } = user;
      const { userId, role, hasEndedAccess } = await enter(user);
      const detail = hasEndedAccess === true ? { endedAccess: true } : {};
      const audit = { ...auditOf(organizationId, { kind: 'user/session', id: userId }, request), detail };
      const session = { userId, role, organizationId };
      const scope = this.databases.organization(organizationId);
      // The provider has just authenticated the user, which no change of the account revokes.
      const isStillProven = () => Promise.resolve(true);
      await openSession(scope, session, { audit, isStillProven, config: this.config, reply });
      await reply.redirect(this.consoleAt(next, request).href, 303);
    } catch (error) {
      if (!isFault(error)) throw error;
      // Refusals by the rules are recorded where the rules are evaluated.
      if (error.code !== 'auth.forbidden')
        this.refusedSignIns.note(request, { reason: error.code, account: '' });
      // Not in the address: a forged link could show any text in this console's name.
      this.seal(entry, { refused: error.details.publicMessage }, { reply, ms: TOLD_MS });
      // A further attempt leads to the same page.
      const again = next === FIRST_PAGE ? '' : `?${new URLSearchParams({ next })}`;
      await reply.redirect(this.consoleAt(`/sign-in${again}`, request).href, 303);
    }
  }

  /** Reason for the refusal of this browser's last sign-in, returned once; null: it was not refused. */
  toldOnce(entry: SignInEntry, reply: FastifyReply): string | null {
    const told = refusalSchema.safeParse(this.opened(entry, reply.request));
    if (told.success) this.clearCookie(reply);
    return told.data?.refused ?? null;
  }

  /** A provider's message goes into the log, not to the browser. */
  failed(error: unknown): StorageFault {
    this.logger.warn({ err: error }, 'a sign-in by the provider has failed');
    return new StorageFault('auth.provider_failed', {
      publicMessage: 'the sign-in provider did not answer as it has to',
      cures: ['try again', "ask the operator of this installation to check the API's log"],
    });
  }

  cookieOf(request: FastifyRequest): string {
    return request.cookies[cookieName('oidc', request, this.config)] ?? '';
  }

  /** URL of the console for the browser: as configured, or else the request's own address. */
  consoleAt(path: string, { protocol, host }: FastifyRequest): URL {
    const { consoleUrl, oidc } = this.config;
    return new URL(path, consoleUrl ?? oidc?.consoleUrl ?? `${protocol}://${host}`);
  }

  private async answerOf(
    entry: SignInEntry,
    begun: Attempt | undefined,
    request: FastifyRequest,
  ): Promise<ProviderUser> {
    if (begun === undefined) {
      throw new StorageFault('auth.invalid', {
        publicMessage: 'the sign-in has taken too long, or began elsewhere',
      });
    }
    const search = request.url.slice(request.url.indexOf('?'));
    return entry.client.end(search, begun).catch((error: unknown) => {
      throw isDenial(error) ? denied() : this.failed(error);
    });
  }

  private async admitted(
    { rules, organization }: SignInEntry,
    { claims, subject, name }: ProviderUser,
    request: FastifyRequest,
  ): Promise<AdmittedUser> {
    const organizationId = await organization();
    const { email } = claims;
    const decision = decideProviderSignIn(claims, rules);
    if (decision.kind === 'refuse') {
      const entry = auditOf(organizationId, { kind: 'provider', id: subject }, request);
      this.refused.note({ ...entry, detail: { email: email ?? null }, reason: decision.code });
      throw faultOf(decision);
    }
    const role = roleByGroups(claims, rules);
    if (role === undefined || email === undefined) throw new Bug('a user without a role was let in');
    return { subject, email, name: name ?? email, role, organizationId };
  }

  private opened({ seal, cookiePrefix }: SignInEntry, request: FastifyRequest): unknown {
    const cookie = this.cookieOf(request);
    if (!cookie.startsWith(cookiePrefix)) return undefined;
    return seal.open(cookie.slice(cookiePrefix.length), systemClock.now());
  }

  private seal(
    { seal, cookiePrefix }: SignInEntry,
    value: object,
    { reply, ms }: { reply: FastifyReply; ms: number },
  ): void {
    const { request } = reply;
    const expires = new Date(systemClock.now().getTime() + ms);
    const options = { ...cookieOptions(request, this.config), expires };
    const text = `${cookiePrefix}${seal.seal(value, expires)}`;
    void reply.setCookie(cookieName('oidc', request, this.config), text, options);
  }

  private clearCookie(reply: FastifyReply): void {
    const { request } = reply;
    void reply.clearCookie(cookieName('oidc', request, this.config), cookieOptions(request, this.config));
  }
}

/** Not an error to investigate: users cancel, and providers may deny access. */
function denied(): StorageFault {
  return new StorageFault('auth.invalid', {
    publicMessage: 'the sign-in was cancelled at the provider, or the provider does not let you use Holdfast',
    cures: ['try again', 'ask the operator of the provider for access to Holdfast'],
  });
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
    action: `${request.method} ${request.routeOptions.url}`,
    target: { kind: 'user', id: actor.id },
    requestId: request.id,
    traceId: traceIdOf(request),
    detail: {},
    at: systemClock.now(),
  };
}
