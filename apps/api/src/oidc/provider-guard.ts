/**
 * Guard of calls to an OpenID provider: whoever writes its discovery document must not choose what this process calls. All of its
 * addresses are asked over HTTPS and are of other machines, unless the issuer that the operator named is itself on this one.
 */
import dns from 'node:dns/promises';
import { isWithin } from '@holdfast/identity/address-ranges.js';
import type { CustomFetch } from 'openid-client';

const CALL_MS_MAX = 10_000;
/** This machine, its links, and where clouds tell machines their secrets. */
const NEVER = ['127.0.0.0/8', '::1', '0.0.0.0/8', '169.254.0.0/16', 'fe80::/10'];
const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost']);

export function isOnThisMachine(issuer: URL): boolean {
  return LOOPBACK_HOSTS.has(issuer.hostname);
}

export type Lookup = (name: string) => Promise<readonly string[]>;

const systemLookup: Lookup = async (name) =>
  (await dns.lookup(name, { all: true })).map(({ address }) => address);

/** @throws Error when the address may not be called */
export async function assertMayCall(url: URL, issuer: URL, lookup: Lookup = systemLookup): Promise<void> {
  if (isOnThisMachine(issuer) && url.host === issuer.host) return;
  if (url.protocol !== 'https:') throw new Error(`the provider's address ${url.href} is not HTTPS`);
  const addresses = await lookup(url.hostname.replace(/^\[|\]$/g, ''));
  const wrong = addresses.find((address) => isWithin(address, NEVER));
  if (wrong !== undefined)
    throw new Error(`the provider's address ${url.href} is ${wrong}, which is not called`);
}

/** `fetch` for the provider alone. Redirects are not followed: they would lead past the check. */
export function guardedFetch(issuer: URL): CustomFetch {
  return async (address, { body = null, method, headers }) => {
    await assertMayCall(new URL(address), issuer);
    return fetch(address, {
      body,
      method,
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(CALL_MS_MAX),
    });
  };
}
