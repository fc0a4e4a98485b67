import type { ClusterId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Lane } from '@holdfast/core/policy/work-lane.js';

/** Subject of a wake-up. It carries no data: the reconciler reads the current state. */
export type WakeUp = (
  | {
      kind: 'volume';
      volumeId: VolumeId;
      /** Left out: `request`. */
      lane?: Lane | undefined;
      /** Party that takes turns with others within the lane (`partyOf`). Left out: work for no organization. */
      party?: string | undefined;
    }
  /** Admission of rebuilds, and the check which nodes are alive. */
  | { kind: 'cluster'; clusterId: ClusterId }
) & {
  /** Trace of the request that it comes from, in W3C's form. Of wake-ups that are merged, one's. */
  traceparent?: string | undefined;
};

/**
 * Wakes reconcilers, at least once. A wake-up for a subject that already waits is merged with it; one that comes while the subject is
 * being reconciled leads to another run afterwards.
 */
export interface Queue {
  wake(wakeUp: WakeUp, options?: { delayMs?: number }): Promise<void>;
}
