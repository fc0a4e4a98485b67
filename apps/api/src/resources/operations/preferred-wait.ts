/** A longer wait is for `Location` and event streams: proxies and clients often give up on a silent connection after a minute. */
const WAIT_SECONDS_MAX = 30;

/**
 * Time that the caller lets the server wait before it answers (RFC 7240): `Prefer: respond-async, wait=10`. The first of that name counts;
 * a value that is not a number of seconds, or above the limit, is ignored.
 */
export function preferredWaitMs(header: string | readonly string[] | undefined): number | undefined {
  const preferences = [header ?? []].flat().join(',').split(',');
  const first = preferences.find((preference) => /^\s*wait\s*(?:[=;]|$)/i.test(preference));
  const seconds = /^\s*wait\s*=\s*(\d{1,9}|"\d{1,9}")\s*(?:;|$)/i.exec(first ?? '')?.[1];
  if (seconds === undefined) return undefined;
  return Math.min(WAIT_SECONDS_MAX, Number(seconds.replaceAll('"', ''))) * 1_000;
}
