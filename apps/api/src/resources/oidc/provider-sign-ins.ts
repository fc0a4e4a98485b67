/**
 * Sign-in at an OpenID provider, as far as it is the same for the installation's provider (docs/design/tenancy-and-access.md) and for those of
 * organizations (ADR 0242): the cookie that a browser carries on its way, the session at its end, and what is told of a refusal.
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

/** As long as a user may take at the provider. */
const ATTEMPT_MS = 10 * 60_000;
/** As long as the console may take to ask why it was refused. */
const TOLD_MS = 60_000;
const FIRST_PAGE = '/';

/**
 * What the cookie of a sign-in holds. The page that it leads to is in there and not in the address at the provider, which may keep
 * addresses and send back others. Checked at both ends; a cookie that an api process of an older version has sealed has none.
 */
const sealedAttempt = attemptSchema.extend({ next: z.string().refine(isReturnPath).default(FIRST_PAGE) });

const refusalSchema = z.object({ refused: z.string() });

/** A provider that users sign in by. */
export type SignInEntry = {
  readonly client: OidcClient;
  readonly seal: CookieSeal;
  readonly rules: ProviderRules;
  /** Stands before the sealed cookie and says whose it is; empty: the installation's provider's. */
  readonly cookiePrefix: string;
  /** The organization that its users sign in to. */
  readonly organization: () => Promise<OrganizationId>;
};

/** A user whom the provider's rules let in. */
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
  /** The account had a password until now, which has ended with all that was opened by it. */
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
   * Begins a sign-in: the browser gets a cookie, and an address to go to.
   *
   * @param going back from the provider, and on from there to a page of the console
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

  /** Ends a sign-in. Whatever happens, the browser is sent on to the console, which says what was refused. */
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
      // The provider has just said who the user is, and no change of the account takes that back.
      const isStillProven = () => Promise.resolve(true);
      await openSession(scope, session, { audit, isStillProven, config: this.config, reply });
      await reply.redirect(this.consoleAt(next, request).href, 303);
    } catch (error) {
      if (!isFault(error)) throw error;
      // Whom the rules refuse is told of where they are read.
      if (error.code !== 'auth.forbidden')
        this.refusedSignIns.note(request, { reason: error.code, account: '' });
      // Not in the address: a link could tell anything there in this console's name.
      this.seal(entry, { refused: error.details.publicMessage }, { reply, ms: TOLD_MS });
      // Another attempt leads there too.
      const again = next === FIRST_PAGE ? '' : `?${new URLSearchParams({ next })}`;
      await reply.redirect(this.consoleAt(`/sign-in${again}`, request).href, 303);
    }
  }

  /** Why this browser's last sign-in was refused, told once; null: it was not. */
  toldOnce(entry: SignInEntry, reply: FastifyReply): string | null {
    const told = refusalSchema.safeParse(this.opened(entry, reply.request));
    if (told.success) this.clearCookie(reply);
    return told.data?.refused ?? null;
  }

  /** What a provider says goes into the log, and not to the browser. */
  failed(error: unknown): StorageFault {
    this.logger.warn({ err: error }, 'a sign-in by the provider has failed');
    return new StorageFault('auth.provider_failed', {
      publicMessage: 'the sign-in provider did not answer as it has to',
      cures: ['try again', "ask who runs this installation to look into the api's log"],
    });
  }

  cookieOf(request: FastifyRequest): string {
    return request.cookies[cookieName('oidc', request, this.config)] ?? '';
  }

  /** Where the browser finds the console. Without a configured address it is where the request was sent to. */
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

/** No failure to look into: users turn back, and a provider says who may come here. */
function denied(): StorageFault {
  return new StorageFault('auth.invalid', {
    publicMessage: 'the sign-in was cancelled at the provider, or the provider does not let you use Holdfast',
    cures: ['try again', 'ask who runs the provider to let you use Holdfast'],
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
