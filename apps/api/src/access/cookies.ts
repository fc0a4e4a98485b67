/** Names and attributes of the cookies that browsers get. */
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';

type CookieConfig = Pick<Config, 'cookieSecure'>;

/** Does the browser speak HTTPS? Either the operator declares it for all requests, or this one's connection or trusted proxy shows it. */
export function isOverTls(request: FastifyRequest, { cookieSecure }: CookieConfig): boolean {
  return cookieSecure || request.protocol === 'https';
}

/** Browsers accept the prefix only with Secure, for one host, from that host: no other site can plant such a cookie. */
export function cookieName(
  purpose: 'session' | 'oidc',
  request: FastifyRequest,
  config: CookieConfig,
): string {
  return isOverTls(request, config) ? `__Host-holdfast_${purpose}` : `holdfast_${purpose}`;
}

export function cookieOptions(request: FastifyRequest, config: CookieConfig) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isOverTls(request, config) } as const;
}
