/** Where a user was going when a sign-in came between. */
import { isReturnPath } from '@holdfast/core/model/return-path.js';
import { paths } from '../paths';

const PARAM = 'next';

/** Address of the sign-in that leads back. @param going path and query of the page */
export function signInFor(going: string): string {
  return going === paths.overview ? paths.signIn : `${paths.signIn}?${PARAM}=${encodeURIComponent(going)}`;
}

/** @param search of the address of the sign-in, which the author of a link may have made */
export function returnPath(search: string): string {
  const next = new URLSearchParams(search).get(PARAM) ?? paths.overview;
  return isReturnPath(next) ? next : paths.overview;
}
