/** The protocol with an OpenID provider: authorization code with PKCE, state and nonce, by `openid-client`. */

import type { ProviderClaims } from '@holdfast/access/decide-provider-sign-in.js';
import { plainText } from '@holdfast/core/model/message-fields.js';
import * as client from 'openid-client';
import { z } from 'zod';
import { type AddressCheck, guardedFetch } from './provider-guard.js';

/** What a sign-in needs when the browser comes back. */
export const attemptSchema = z.object({
  /** The issuer that it began at. */
  issuer: z.string(),
  clientId: z.string(),
  /** Where the provider sends the browser back to. */
  redirectUrl: z.url(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
});
export type Attempt = z.infer<typeof attemptSchema>;

export type ProviderUser = {
  readonly subject: string;
  readonly name: string | undefined;
  readonly claims: ProviderClaims;
};

/** What a provider knows this control plane as, and how it is called. */
export type ClientConfig = {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Claim that lists a user's groups; undefined: groups do not count. */
  readonly groupsClaim: string | undefined;
  readonly check: AddressCheck;
};

/** A subject has 255 ASCII characters at most, says OpenID Connect Core 2. */
const SUBJECT_CHARS_MAX = 255;
/** As long as a member's name may be. */
const NAME_CHARS_MAX = 128;
const emailClaim = z.email().max(320).toLowerCase();

/** Keys and addresses of a provider change seldom. */
const DISCOVERY_MS = 10 * 60_000;

/** The provider has said no: the user has turned back there, or may not go on to this client. */
export function isDenial(error: unknown): boolean {
  return error instanceof client.AuthorizationResponseError && error.error === 'access_denied';
}

export class OidcClient {
  private discovered: { readonly at: number; readonly provider: Promise<client.Configuration> } | undefined;

  constructor(private readonly config: ClientConfig) {}

  /**
   * Where the browser is sent, and what it has to bring back.
   *
   * @param redirectUrl where the provider is to send it then
   */
  async begin(redirectUrl: URL): Promise<{ readonly url: URL; readonly attempt: Attempt }> {
    const { issuer, clientId } = this.config;
    const attempt = {
      issuer: issuer.href,
      clientId,
      redirectUrl: redirectUrl.href,
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const url = client.buildAuthorizationUrl(await this.provider(), {
      redirect_uri: attempt.redirectUrl,
      scope: 'openid email profile',
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    });
    return { url, attempt };
  }

  /**
   * Exchanges the code that the browser has brought for the user's claims.
   *
   * @param search of the address that it came to
   * @throws Error when anything of it is not the answer to this attempt
   */
  async end(search: string, attempt: Attempt): Promise<ProviderUser> {
    const { state, nonce, verifier, redirectUrl } = attempt;
    const { issuer, clientId } = this.config;
    if (attempt.issuer !== issuer.href || attempt.clientId !== clientId)
      throw new Error(`the sign-in began at ${attempt.issuer}`);
    const provider = await this.provider();
    const url = new URL(search, redirectUrl);
    const tokens = await client.authorizationCodeGrant(provider, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const idToken = tokens.claims();
    if (idToken === undefined) throw new Error('the provider has sent no id token');
    const { userinfo_endpoint } = provider.serverMetadata();
    const more =
      userinfo_endpoint === undefined
        ? {}
        : await client.fetchUserInfo(provider, tokens.access_token, idToken.sub);
    return this.userOf({ ...idToken, ...more });
  }

  private userOf(claims: Readonly<Record<string, unknown>>): ProviderUser {
    const { sub, name, email, email_verified } = claims;
    const { groupsClaim } = this.config;
    const groups = groupsClaim === undefined ? [] : claims[groupsClaim];
    if (typeof sub !== 'string' || sub.length > SUBJECT_CHARS_MAX)
      throw new Error('the provider names its user by no text of at most 255 characters');
    return {
      subject: sub,
      name: typeof name === 'string' ? plainText(name, NAME_CHARS_MAX) || undefined : undefined,
      claims: {
        email: emailClaim.safeParse(email).data,
        isEmailVerified: email_verified === true,
        groups: Array.isArray(groups) ? groups.map(String) : [],
      },
    };
  }

  /** A provider that did not answer is asked again by the next sign-in. */
  private provider(): Promise<client.Configuration> {
    const now = Date.now();
    if (this.discovered !== undefined && now - this.discovered.at < DISCOVERY_MS)
      return this.discovered.provider;
    const { issuer, clientId, clientSecret, check } = this.config;
    // Which issuers may do without TLS was decided when the configuration was read; the check judges every single address.
    // The signature of ID tokens is verified though they come by TLS: a proxy on the way may end it.
    const execute = [client.enableNonRepudiationChecks];
    const provider = client.discovery(issuer, clientId, clientSecret, undefined, {
      execute: issuer.protocol === 'http:' ? [...execute, client.allowInsecureRequests] : execute,
      [client.customFetch]: guardedFetch(check),
    });
    this.discovered = { at: now, provider };
    provider.catch(() => {
      this.discovered = undefined;
    });
    return provider;
  }
}
