/** The protocol with an OpenID provider: authorization code with PKCE, state and nonce, by `openid-client`. */

import type { ProviderClaims } from '@holdfast/access/decide-provider-sign-in.js';
import { plainText } from '@holdfast/core/model/message-fields.js';
import * as client from 'openid-client';
import { z } from 'zod';
import { type AddressCheck, guardedFetch } from './provider-guard.js';

/** State of a sign-in, for when the browser returns. */
export const attemptSchema = z.object({
  /** The issuer where it started. */
  issuer: z.string(),
  clientId: z.string(),
  /** Redirect URL to which the provider sends the browser back. */
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

/** Client configuration of this control plane at a provider. */
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
/** Maximum length of a member's name. */
const NAME_CHARS_MAX = 128;
const emailClaim = z.email().max(320).toLowerCase();

/** Keys and addresses of a provider change seldom. */
const DISCOVERY_MS = 10 * 60_000;

/** The provider has denied the sign-in: the user has cancelled, or may not use this client. */
export function isDenial(error: unknown): boolean {
  return error instanceof client.AuthorizationResponseError && error.error === 'access_denied';
}

export class OidcClient {
  private discovered: { readonly at: number; readonly provider: Promise<client.Configuration> } | undefined;

  constructor(private readonly config: ClientConfig) {}

  /**
   * Starts a sign-in: the URL for the browser, and the state to verify at its return.
   *
   * @param redirectUrl to which the provider redirects it then
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
   * Exchanges the browser's authorization code for the user's claims.
   *
   * @param search query of the address of its return
   * @throws Error when it does not answer this attempt
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

  /** After a failure the next sign-in runs the discovery again. */
  private provider(): Promise<client.Configuration> {
    const now = Date.now();
    if (this.discovered !== undefined && now - this.discovered.at < DISCOVERY_MS)
      return this.discovered.provider;
    const { issuer, clientId, clientSecret, check } = this.config;
    // Issuers without TLS were admitted when the configuration was read; the check covers every address. ID tokens' signatures are verified
    // although they come over TLS, since a proxy may terminate it.
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
