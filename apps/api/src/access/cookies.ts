/** Names and attributes of the cookies that browsers get. */
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';

type CookieConfig = Pick<Config, 'cookieSecure'>;

/** Does the browser speak HTTPS? The operator says so of all requests, or the connection or a trusted proxy of this one. */
export function isOverTls(request: FastifyRequest, { cookieSecure }: CookieConfig): boolean {
  return cookieSecure || request.protocol === 'https';
}

/** Browsers take the prefix only with Secure, for one host, from that host itself: no other site can plant such a cookie. */
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
