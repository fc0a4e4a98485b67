/**
 * Addresses that webhooks may be sent to: those of the public internet, and networks that the operator names. Else a tenant
 * could have the worker call what only the worker reaches.
 */
import net from 'node:net';
import { isWithin } from './address-ranges.js';
import { hostOf } from './names.js';

/** Addresses that are not public IPv4 ones (IANA's registry of special-purpose addresses, and multicast). */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** All public IPv6 addresses are in here. */
const PUBLIC_V6 = ['2000::/3'];
/** Of the public ones, excluded: special purposes, documentation, and tunnels that hold an IPv4 address of which nothing is known. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

export const NO_RECEIVER = 'its address is none that webhooks may be sent to';

/** Why nothing is sent to an address, over `http:` or `https:`; undefined: it may be. */
export function refusalOfReceiver(
  protocol: string,
  address: string,
  networks: readonly string[],
): string | undefined {
  if (!isAllowedReceiver(address, networks)) return NO_RECEIVER;
  if (protocol === 'http:' && !isWithin(address, networks)) {
    return 'beyond the networks that the operator names, webhooks are sent over https only';
  }
  return undefined;
}

/** As {@link refusalOfReceiver}, for a URL before its name is resolved: names are judged when something is sent. */
export function refusalOfReceiverUrl(url: string, networks: readonly string[]): string | undefined {
  const target = new URL(url);
  const name = hostOf(target);
  const address = /^(.+\.)?localhost\.?$/.test(name) ? '127.0.0.1' : name;
  return net.isIP(address) === 0 ? undefined : refusalOfReceiver(target.protocol, address, networks);
}

export function isAllowedReceiver(address: string, networks: readonly string[]): boolean {
  return isPublic(address) || isWithin(address, networks);
}

function isPublic(address: string): boolean {
  switch (net.isIP(address)) {
    case 4:
      return !isWithin(address, SPECIAL_V4);
    case 6:
      return isWithin(address, PUBLIC_V6) && !isWithin(address, SPECIAL_V6);
    default:
      return false;
  }
}
