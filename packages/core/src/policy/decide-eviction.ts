import { ALLOWED, type Decision, refuse } from './decision.js';

/** What is wrong with the request, said of the field. */
export const EVICTION_NEEDS =
  'needs allowScheduling to be false, else new replicas would come while the old ones leave';

/**
 * May a node or a disk be wanted so? It is not emptied while new replicas may come.
 *
 * @param what names it: `disk disk-1`
 */
export function decideEviction(
  what: string,
  wanted: { readonly evictionRequested: boolean; readonly allowScheduling: boolean },
): Decision<'request.invalid'> {
  if (!wanted.evictionRequested || !wanted.allowScheduling) return ALLOWED;
  return refuse('request.invalid', `evictionRequested on ${what} ${EVICTION_NEEDS}`, [
    'set allowScheduling to false in the same request',
  ]);
}
