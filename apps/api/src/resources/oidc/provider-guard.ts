/**
 * Guard of calls to an OpenID provider: its discovery document must not choose arbitrary addresses for this process to call. All of its
 * addresses are called over HTTPS and are on other machines, unless the operator's issuer is on this machine.
 */
import dns from 'node:dns/promises';
import net, { type LookupFunction } from 'node:net';
import { isWithin } from '@holdfast/identity/address-ranges.js';
import { hostOf } from '@holdfast/identity/names.js';
import { refusalOfReceiver } from '@holdfast/identity/receiver-address.js';
import type { CustomFetch } from 'openid-client';
import { Agent, fetch } from 'undici';
import { isOnThisMachine } from '../../config/oidc-config.js';

const CALL_MS_MAX = 10_000;
/** A discovery document or a set of keys has a few kilobytes. */
const ANSWER_BYTES_MAX = 256 * 1024;
/** Loopback and link-local addresses, where clouds serve instance metadata with secrets. */
const NEVER = ['127.0.0.0/8', '::1', '0.0.0.0/8', '169.254.0.0/16', 'fe80::/10'];

/** Checks an address from a provider's documents. Returns the addresses to connect to; undefined: those of its name. */
export type AddressCheck = (url: URL) => Promise<readonly string[] | undefined>;

export type Lookup = (name: string) => Promise<readonly string[]>;

const systemLookup: Lookup = async (name) =>
  (await dns.lookup(name, { all: true })).map(({ address }) => address);

/**
 * The addresses that a call may go to; undefined: the issuer's own on this machine.
 *
 * @throws Error when the address may not be called
 */
export async function addressesToCall(
  url: URL,
  issuer: URL,
  lookup: Lookup = systemLookup,
): Promise<readonly string[] | undefined> {
  if (isOnThisMachine(issuer) && url.host === issuer.host) return undefined;
  if (url.protocol !== 'https:') throw new Error(`the provider's address ${url.href} is not HTTPS`);
  const addresses = await lookup(hostOf(url));
  const wrong = addresses.find((address) => isWithin(address, NEVER));
  if (wrong !== undefined)
    throw new Error(`the provider's address ${url.href} is ${wrong}, which is not called`);
  return addresses;
}

/**
 * The addresses that a call may go to for an organization's provider, which the operator has not chosen: those of the public internet over
 * HTTPS, and of networks that the operator names. Otherwise a tenant could make this process call internal addresses.
 *
 * @throws Error when the address may not be called
 */
export async function addressesOfTenants(
  url: URL,
  networks: readonly string[],
  lookup: Lookup = systemLookup,
): Promise<readonly string[]> {
  const found = await lookup(hostOf(url));
  const allowed = found.filter((address) => refusalOfReceiver(url.protocol, address, networks) === undefined);
  if (allowed.length === 0) throw new Error(`the provider's address ${url.href} is none that may be called`);
  return allowed;
}

/**
 * `fetch` for the provider alone. It connects to the checked addresses, so that a later change of the name's DNS record has no effect.
 * Redirects are not followed: they would bypass the check.
 */
export function guardedFetch(check: AddressCheck): CustomFetch {
  return async (address, { body = null, method, headers }) => {
    const addresses = await check(new URL(address));
    const connect = addresses === undefined ? {} : { connect: { lookup: alwaysTo(addresses) } };
    const dispatcher = new Agent({ ...connect, maxResponseSize: ANSWER_BYTES_MAX });
    try {
      const answer = await fetch(address, {
        body,
        method,
        headers,
        dispatcher,
        redirect: 'error',
        signal: AbortSignal.timeout(CALL_MS_MAX),
      });
      const content = await answer.arrayBuffer();
      const { status, statusText } = answer;
      const given = { status, statusText, headers: [...answer.headers] };
      return new Response(content.byteLength === 0 ? null : content, given);
    } finally {
      await dispatcher.close();
    }
  };
}

function alwaysTo(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: net.isIPv6(address) ? 6 : 4 }));
  return (name, { all }, done) => {
    const [first] = found;
    if (first === undefined) done(new Error(`${name} has no address`), '');
    else if (all === true) done(null, found);
    else done(null, first.address, first.family);
  };
}
