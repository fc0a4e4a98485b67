/** The protocol with an OpenID provider: authorization code with PKCE, state and nonce, by `openid-client`. */
import type { ProviderClaims } from '@holdfast/core/policy/decide-provider-sign-in.js';
import * as client from 'openid-client';
import { z } from 'zod';
import type { OidcConfig } from './oidc-config.js';
import { guardedFetch, isOnThisMachine } from './provider-guard.js';

/** What a sign-in needs when the browser comes back. */
export const attemptSchema = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() });
export type Attempt = z.infer<typeof attemptSchema>;

export type ProviderUser = {
  readonly subject: string;
  readonly name: string | undefined;
  readonly claims: ProviderClaims;
};

/** Keys and addresses of a provider change seldom. */
const DISCOVERY_MS = 10 * 60_000;

export class OidcClient {
  private discovered: { readonly at: number; readonly provider: Promise<client.Configuration> } | undefined;

  constructor(private readonly config: OidcConfig) {}

  /** Where the browser is sent, and what it has to bring back. */
  async begin(): Promise<{ readonly url: URL; readonly attempt: Attempt }> {
    const attempt = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const url = client.buildAuthorizationUrl(await this.provider(), {
      redirect_uri: this.redirectUrl.href,
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
  async end(search: string, { state, nonce, verifier }: Attempt): Promise<ProviderUser> {
    const provider = await this.provider();
    const url = new URL(search, this.redirectUrl);
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
    const groups = claims[this.config.groupsClaim];
    return {
      subject: String(sub),
      name: typeof name === 'string' ? name : undefined,
      claims: {
        email: typeof email === 'string' ? email.toLowerCase() : undefined,
        isEmailVerified: email_verified === true,
        groups: Array.isArray(groups) ? groups.map(String) : [],
      },
    };
  }

  get redirectUrl(): URL {
    return new URL('/api/v1/oidc/callback', this.config.consoleUrl);
  }

  /** A provider that did not answer is asked again by the next sign-in. */
  private provider(): Promise<client.Configuration> {
    const now = Date.now();
    if (this.discovered !== undefined && now - this.discovered.at < DISCOVERY_MS)
      return this.discovered.provider;
    const { issuer, clientId, clientSecret } = this.config;
    const provider = client.discovery(issuer, clientId, clientSecret, undefined, {
      execute: isOnThisMachine(issuer) ? [client.allowInsecureRequests] : [],
      [client.customFetch]: guardedFetch(issuer),
    });
    this.discovered = { at: now, provider };
    provider.catch(() => {
      this.discovered = undefined;
    });
    return provider;
  }
}
