// What the console tells the API of a request's sender: address, host and protocol, in the headers that proxies use for it.
import proxyAddr from '@fastify/proxy-addr';

/**
 * @param {string} trusted addresses or networks (CIDR) of proxies before the console, by commas or spaces
 * @param {string | undefined} secret by which the API knows this console among the programs of one machine
 * @returns a function that sets `X-Forwarded-For`, `-Host` and `-Proto` of a request. What the request brings is kept where its
 *   peer is a trusted proxy, and thrown away where it is not: a browser could write anything there.
 * @throws Error when an address is none
 */
export function callerTeller(trusted = '', secret = undefined) {
  const isTrusted = proxyAddr.compile(trusted.split(/[\s,]+/).filter((part) => part !== ''));
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? '';
    const given = isTrusted(peer, 0) ? headers : {};
    const told = {
      'x-forwarded-for': [given['x-forwarded-for'], peer].filter(Boolean).join(', '),
      'x-forwarded-host': lastOf(given['x-forwarded-host']) ?? headers.host,
      'x-forwarded-proto': lastOf(given['x-forwarded-proto']) ?? 'http',
      'x-holdfast-console-secret': secret,
    };
    delete headers.forwarded;
    for (const [name, value] of Object.entries(told)) {
      if (value === undefined) delete headers[name];
      else headers[name] = value;
    }
  };
}

function lastOf(value) {
  return value?.split(',').at(-1)?.trim();
}
