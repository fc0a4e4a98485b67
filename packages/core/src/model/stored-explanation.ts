import type { ReplicaId } from './ids.js';

/**
 * What is stored of the answer why a replica has no place: a `PlacementExplanation` of the scheduler's, of which the
 * model knows no more than this.
 */
export type StoredExplanation = {
  readonly sentence: string;
  /** Null: of a replica that does not exist yet. */
  readonly replicaId: ReplicaId | null;
  /** When it was found, RFC 3339. */
  readonly at: string;
};
