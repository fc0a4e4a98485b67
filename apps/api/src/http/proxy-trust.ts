/**
 * Whose word is taken for a user's address, host and protocol: of the operator's proxies, which are known by their addresses, and of the
 * console on the same machine, which shares the loopback with every other program there and so proves itself by a secret (docs/design/tenancy-and-access.md).
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

/** Fastify's `trustProxy`. Requests over the loopback that tell something unproven have lost it by then. */
export function trustedHops({ trustedProxies = [], consoleSecret }: TrustConfig) {
  if (consoleSecret === undefined) return [...trustedProxies];
  return (address: string, hop: number) =>
    isWithin(address, trustedProxies) || (hop === 0 && isOfThisMachine(address));
}

/** Takes off what a program of this machine says of others without being the console, or a proxy that the operator names. */
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

/** An IPv4 client of a socket that takes both comes by a longer name. */
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
  // That something was told stays known: a proxy's request is no local program's, for which /metrics is open.
  if (TOLD.some((name) => headers[name] !== undefined)) headers.forwarded = 'unknown';
  for (const name of TOLD) delete headers[name];
}
