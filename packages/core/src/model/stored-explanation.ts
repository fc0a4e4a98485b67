import type { ReplicaId } from './ids.js';

/**
 * Stored explanation why a replica has no place: a `PlacementExplanation` of the scheduler, of which the model knows only these
 * fields.
 */
export type StoredExplanation = {
  readonly sentence: string;
  /** Null: of a replica that does not exist yet. */
  readonly replicaId: ReplicaId | null;
  /** When it was found, RFC 3339. */
  readonly at: string;
};
