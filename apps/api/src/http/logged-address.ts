/** The address of a request as the log tells it: without values that may be secrets. */

/** Parameters of queries whose values are told: what lists and reads are asked with. All others are hidden, whatever they are called. */
const TOLD = new Set([
  'action',
  'after',
  'cursor',
  'days',
  'dryRun',
  'filter',
  'format',
  'fromClusterId',
  'limit',
  'nodeIds',
  'projectId',
  'sort',
  'verbose',
]);
/** A code of a program that waits for its approval: with it, a user's click lets the program in. */
const DEVICE_CODE = /(\/device\/)(?!start(?:\/|$)|token(?:\/|$))[^/]+/gi;
/** A log is no store of addresses. */
const CHARS_MAX = 2_048;
const HIDDEN = '[hidden]';

/** @param route pattern of the address, as `/api/v1/device/:userCode`; `undefined`: it leads nowhere */
export function loggedAddress(url: string, route: string | undefined): string {
  const at = url.indexOf('?');
  const path = at === -1 ? url : url.slice(0, at);
  // By the route where there is one: an escaped letter in the address leads there too.
  const told = route?.includes(':userCode') ? route.replace(':userCode', HIDDEN) : withoutCodes(path);
  const query = at === -1 ? '' : `?${withoutValues(url.slice(at + 1))}`;
  return `${told}${query}`.slice(0, CHARS_MAX);
}

function withoutCodes(path: string): string {
  return path.replace(DEVICE_CODE, `$1${HIDDEN}`);
}

function withoutValues(query: string): string {
  return query
    .split('&')
    .map((part) => {
      const at = part.indexOf('=');
      // A text without a name may be a secret itself.
      if (at === -1) return TOLD.has(part) || part === '' ? part : HIDDEN;
      const name = part.slice(0, at);
      return TOLD.has(name) && !part.includes('?') ? part : `${name}=${HIDDEN}`;
    })
    .join('&');
}
