import type { CopyRecord } from './copy-record.js';
import type { ReplicaId } from './ids.js';

/** State reported by the copies when an engine was to start and too few current ones answered. */
export type CopiesSurvey = {
  takenAt: Date;
  /** Those that answered, in the order of their ids. */
  copies: readonly SurveyedCopy[];
  /** Copies that say alone, on their node, that others are stale; left out: none does. */
  claimedBy?: readonly ReplicaId[] | undefined;
};

export type SurveyedCopy = {
  replicaId: ReplicaId;
  /** `undefined` for a copy that never became a member: it was being made. */
  record: CopyRecord | undefined;
  /** False: some regions may hold writes that other copies do not have, or the other way round. */
  isClean: boolean;
  writtenBytes: number;
};

/** A user's decision to go on with these copies although others may hold more. */
export type SalvageRequest = { replicaIds: readonly ReplicaId[]; requestedAt: Date };
