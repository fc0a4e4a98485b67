/**
 * Which authority signs, and which are trusted.
 *
 * A new authority is trusted from the first moment and signs only later, when every node has fetched a certificate and with it the
 * list of trusted authorities since. The previous one is trusted until its last certificate has expired.
 */

/** Longest life of a certificate that an authority signs. Overlaps are as long, whatever shorter life is configured. */
export const CERTIFICATE_DAYS_MAX = 7;
/** A successor is made when an authority has no more than this left of its ten years. */
const SUCCESSOR_DAYS = 2 * 365;
const DAY_MS = 24 * 3_600_000;
const CERTIFICATE_MS_MAX = CERTIFICATE_DAYS_MAX * DAY_MS;

type Signer = { readonly signsFrom: Date; readonly notAfter: Date };

/**
 * @param authorities all that were ever made
 * @returns the signing one; `undefined` if there is none yet
 */
export function signingAuthority<A extends Signer>(authorities: readonly A[], now: Date): A | undefined {
  const usable = authorities.filter(({ signsFrom }) => signsFrom <= now);
  return usable.reduce<A | undefined>(
    (newest, next) => (newest === undefined || next.signsFrom >= newest.signsFrom ? next : newest),
    undefined,
  );
}

export function trustedAuthorities<A extends Signer>(authorities: readonly A[], now: Date): A[] {
  const signing = signingAuthority(authorities, now);
  if (signing === undefined) return [...authorities];
  return authorities.filter((authority) => {
    if (authority.notAfter <= now) return false;
    const successor = authorities
      .map(({ signsFrom }) => signsFrom)
      .filter((signsFrom) => signsFrom > authority.signsFrom)
      .sort((a, b) => a.getTime() - b.getTime())[0];
    return successor === undefined || now.getTime() < successor.getTime() + CERTIFICATE_MS_MAX;
  });
}

/** When an authority that is made now begins to sign: at once where it is the first. */
export function firstSignature(authorities: readonly Signer[], now: Date): Date {
  return authorities.length === 0 ? now : new Date(now.getTime() + CERTIFICATE_MS_MAX);
}

/** True if there is none yet, or the newest one is about to expire. */
export function needsAuthority(authorities: readonly Signer[], now: Date): boolean {
  return authorities.every(({ notAfter }) => notAfter.getTime() - now.getTime() < SUCCESSOR_DAYS * DAY_MS);
}
