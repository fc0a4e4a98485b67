/**
 * Reconnection to a copy that could not be dropped: the last current one, or one of several that all fell silent at
 * once. Requests to it wait meanwhile; those in flight are sent again (docs/adr/0137-io-errors-and-the-last-copy.md).
 *
 * It keeps the epoch, and succeeds only if the copy has all that was acknowledged: a replica process that died may
 * have lost what no flush had covered, and an engine that went on with it would lose that silently.
 */
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { Time } from '../base/time.js';
import type { DataLink } from '../nbd/data-link.js';
import type { ReplicaLink } from './replica-link.js';

const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 2_000;
/** Step of the wait between attempts, in milliseconds; bounds how late a stop is noticed. */
const PAUSE_STEP_MS = 100;

export type ReopeningPorts = {
  reopen: (link: ReplicaLink) => Promise<DataLink>;
  time: Time;
  stopped: () => boolean;
  reopened: (link: ReplicaLink, client: DataLink) => void;
  /** Called when the copy is gone for good. */
  gone: (link: ReplicaLink, error: StorageFault) => void;
};

/** Faults that no retry would cure. */
const FINAL = ['engine.stale_epoch', 'engine.no_replica', 'replica.corrupt', 'replica.not_found'] as const;

/** Resolves when the copy is connected again, was dropped, or the engine has stopped. */
export async function reopen(link: ReplicaLink, ports: ReopeningPorts): Promise<void> {
  const isOver = () => ports.stopped() || link.mode === 'ERR';
  for (let pauseMs = PAUSE_MIN_MS; !isOver(); pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
    try {
      const client = await ports.reopen(link);
      if (isOver()) client.close();
      else ports.reopened(link, client);
      return;
    } catch (error) {
      const final = FINAL.some((code) => isFault(error, code));
      if (final && error instanceof StorageFault && !isOver()) return ports.gone(link, error);
    }
    for (let leftMs = pauseMs; leftMs > 0 && !isOver(); leftMs -= PAUSE_STEP_MS) {
      await ports.time.sleep(Math.min(leftMs, PAUSE_STEP_MS));
    }
  }
}
