/** Access to the metrics of a process: they cover all organizations, so they are for its operator alone. */

export type Scraper = {
  /** Address of the connection's other end. */
  readonly address: string | undefined;
  /** The request came through a proxy, which may be on this machine while the caller is not. */
  readonly isForwarded: boolean;
  readonly authorization: string | undefined;
};

/** @param token set by the operator; empty or `undefined`: callers on the machine itself, and no others */
export function mayReadMetrics(scraper: Scraper, token: string | undefined): boolean {
  if (token === undefined || token === '') return isLoopback(scraper.address) && !scraper.isForwarded;
  const given = /^Bearer\s+(\S+)$/i.exec(scraper.authorization ?? '')?.[1];
  return given !== undefined && isSameText(given, token);
}

function isLoopback(address: string | undefined): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address ?? '');
}

/** Takes as long for a wrong text as for the right one, so that the time reveals nothing. */
function isSameText(given: string, wanted: string): boolean {
  let difference = given.length ^ wanted.length;
  for (let index = 0; index < given.length; index += 1) {
    difference |= given.charCodeAt(index) ^ wanted.charCodeAt(index % wanted.length);
  }
  return difference === 0;
}
