import type { Rebuild } from '../model/rebuild.js';

/** First pause after a failed rebuild; doubles with every further failure in a row. */
const FAILED_PAUSE_MS = 5_000;
/** Longer pauses would only leave the volume degraded for longer; what is broken is shown meanwhile. */
const FAILED_PAUSE_MAX_MS = 3 * 60_000;
/** After a cancel: a person wanted it stopped, so it must not start again under their hands. */
const CANCELLED_PAUSE_MS = 5 * 60_000;

/**
 * Must a volume wait before its next rebuild? Rebuilds that ended because their engine or node went away do not count:
 * nothing suggests that the next one would fail too.
 *
 * @param rebuilds the volume's last rebuilds, in any order
 */
export function isPausingRebuilds(rebuilds: readonly Rebuild[], now: Date): boolean {
  const ended = rebuilds
    .filter(({ finishedAt }) => finishedAt !== undefined)
    .sort((a, b) => endedAtMs(b) - endedAtMs(a));
  const last = ended[0];
  if (last === undefined) return false;
  const sinceMs = now.getTime() - endedAtMs(last);
  if (last.state === 'cancelled') return sinceMs < CANCELLED_PAUSE_MS;
  if (!isBlameable(last)) return false;

  const firstOther = ended.findIndex((rebuild) => !isBlameable(rebuild));
  const failuresInRow = firstOther === -1 ? ended.length : firstOther;
  return sinceMs < Math.min(FAILED_PAUSE_MAX_MS, FAILED_PAUSE_MS * 2 ** (failuresInRow - 1));
}

const NOBODYS_FAULT = new Set(['engine.not_found', 'node.not_ready', 'replica.not_found']);

function isBlameable({ state, error }: Rebuild): boolean {
  return state === 'failed' && !NOBODYS_FAULT.has(error?.code ?? '');
}

function endedAtMs({ finishedAt }: Rebuild): number {
  return finishedAt?.getTime() ?? 0;
}
