/** Where a user was going when a sign-in came between. */
import { paths } from '../paths';

const PARAM = 'next';

/** Address of the sign-in that leads back. @param going path and query of the page */
export function signInFor(going: string): string {
  return going === paths.overview ? paths.signIn : `${paths.signIn}?${PARAM}=${encodeURIComponent(going)}`;
}

/** Only pages of the console are returned to: an address from elsewhere may have been put there by the author of a link. */
export function returnPath(search: string): string {
  const next = new URLSearchParams(search).get(PARAM) ?? paths.overview;
  const base = 'http://console.invalid';
  const isOurs = next.startsWith('/') && URL.canParse(next, base) && new URL(next, base).origin === base;
  return isOurs && !next.startsWith(paths.signIn) ? next : paths.overview;
}
