/** Whether a backup may be deleted. */
import type { RepositoryState } from './repository-state.js';

export type DeletionPlan =
  | { readonly kind: 'delete' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'locked'; readonly until: string };

export function planDeletion(state: RepositoryState, backupId: string, now: Date): DeletionPlan {
  const backup = state.backups.get(backupId);
  if (backup === undefined) return { kind: 'unknown' };
  const { lockedUntil } = backup;
  if (lockedUntil !== undefined && Date.parse(lockedUntil) > now.getTime())
    return { kind: 'locked', until: lockedUntil };
  return { kind: 'delete' };
}
