/** Whether a finished run may be recorded over the state that the journal has come to meanwhile. */
import { isAbandoned, type RepositoryState } from './repository-state.js';

export type CommitPlan =
  | { readonly kind: 'commit'; readonly rescued: readonly string[] }
  /** A prune has given the run up: its packs may be deleted at any moment, and all of it begins again. */
  | { readonly kind: 'abandoned' };

/**
 * @param usedPacks all packs that the backup refers to. None of them is dead: blobs of dead packs are in no index, so that they were read anew.
 */
export function planCommit(state: RepositoryState, run: string, usedPacks: ReadonlySet<string>): CommitPlan {
  if (isAbandoned(state, run)) return { kind: 'abandoned' };
  return { kind: 'commit', rescued: [...usedPacks].filter((pack) => state.condemned.has(pack)) };
}
