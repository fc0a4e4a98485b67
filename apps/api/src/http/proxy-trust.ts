/**
 * Trust in headers with a user's address, host and protocol: from the operator's proxies, known by their addresses, and from the console on
 * the same machine, which shares the loopback with every other program there and so authenticates by a secret
 * (docs/design/tenancy-and-access.md).
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { isWithin } from '@holdfast/identity/address-ranges.js';
import { isLoopback } from '@holdfast/identity/names.js';
import type { Config } from '../config/config.js';

type TrustConfig = Pick<Config, 'trustedProxies' | 'consoleSecret'>;

/** As the console sends it. */
const SECRET_HEADER = 'x-holdfast-console-secret';
const TOLD = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'] as const;

/** Fastify's `trustProxy`. Unproven headers of requests over the loopback have been removed by then. */
export function trustedHops({ trustedProxies = [], consoleSecret }: TrustConfig) {
  if (consoleSecret === undefined) return [...trustedProxies];
  return (address: string, hop: number) =>
    isWithin(address, trustedProxies) || (hop === 0 && isOfThisMachine(address));
}

/** Removes forwarding headers sent by a local program that is neither the console nor a proxy named by the operator. */
export function withoutUnproven(handler: RequestListener, config: TrustConfig): RequestListener {
  const { trustedProxies = [], consoleSecret } = config;
  if (consoleSecret === undefined) return handler;
  return (request, response) => {
    const isProven = takeSecret(request, consoleSecret);
    const peer = request.socket.remoteAddress ?? '';
    if (isOfThisMachine(peer) && !isProven && !isWithin(peer, trustedProxies)) forget(request);
    handler(request, response);
  };
}

/** A dual-stack socket shows an IPv4 client by its IPv6-mapped address. */
function isOfThisMachine(address: string): boolean {
  return isLoopback(address.replace(/^::ffff:(?=\d+\.)/i, ''));
}

function takeSecret({ headers }: IncomingMessage, secret: string): boolean {
  const given = headers[SECRET_HEADER];
  delete headers[SECRET_HEADER];
  if (typeof given !== 'string' || given.length !== secret.length) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(secret));
}

function forget({ headers }: IncomingMessage): void {
  // Keeps a mark of the removed headers: a proxied request is not a local program's, for which /metrics is open.
  if (TOLD.some((name) => headers[name] !== undefined)) headers.forwarded = 'unknown';
  for (const name of TOLD) delete headers[name];
}
