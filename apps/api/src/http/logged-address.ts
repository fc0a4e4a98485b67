/** The address of a request for the log: without values that may be secrets. */

/** Query parameters whose values are logged: those of lists and reads. All others are hidden. */
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
/** Code of a program that waits for approval: whoever knows it could trick a user into approving it. */
const DEVICE_CODE = /(\/device\/)(?!start(?:\/|$)|token(?:\/|$))[^/]+/gi;
/** Limit on the logged part of an address. */
const CHARS_MAX = 2_048;
const HIDDEN = '[hidden]';

/** @param route pattern of the address, as `/api/v1/device/:userCode`; `undefined`: no route */
export function loggedAddress(url: string, route: string | undefined): string {
  const at = url.indexOf('?');
  const path = at === -1 ? url : url.slice(0, at);
  // By the route, if any: an escaped letter in the address leads there too.
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
