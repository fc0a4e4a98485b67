import type { Rebuild } from '../model/rebuild.js';

/** First pause after a failed rebuild; doubles with every further failure in a row. */
const FAILED_PAUSE_MS = 5_000;
/** Longer pauses would only prolong the degradation; the error is displayed meanwhile. */
const FAILED_PAUSE_MAX_MS = 3 * 60_000;
/** After a cancel: a user wanted it stopped, so it must not start again at once. */
const CANCELLED_PAUSE_MS = 5 * 60_000;

export type RebuildPause = { readonly until: Date; readonly after: 'cancelled' | 'failed' };

/**
 * Pause before a volume's next rebuild, if any. Rebuilds that ended because their engine or node failed do not count: nothing
 * suggests that the next one would fail too.
 *
 * @param rebuilds the volume's last rebuilds, in any order
 */
export function rebuildPause(rebuilds: readonly Rebuild[], now: Date): RebuildPause | undefined {
  const pause = lastPause(rebuilds);
  return pause !== undefined && pause.until.getTime() > now.getTime() ? pause : undefined;
}

/** The pause after the last rebuild, over or not. */
export function lastPause(rebuilds: readonly Rebuild[]): RebuildPause | undefined {
  const ended = rebuilds
    .filter(({ finishedAt }) => finishedAt !== undefined)
    .sort((a, b) => endedAtMs(b) - endedAtMs(a));
  const last = ended[0];
  if (last === undefined) return undefined;
  const pause = (ms: number, after: RebuildPause['after']) => {
    return { until: new Date(endedAtMs(last) + ms), after };
  };
  // One with an error was called off by what happened to its volume: nothing keeps the next one from starting.
  if (last.state === 'cancelled' && last.error === undefined) return pause(CANCELLED_PAUSE_MS, 'cancelled');
  if (!isBlameable(last)) return undefined;

  const firstOther = ended.findIndex((rebuild) => !isBlameable(rebuild));
  const failuresInRow = firstOther === -1 ? ended.length : firstOther;
  return pause(Math.min(FAILED_PAUSE_MAX_MS, FAILED_PAUSE_MS * 2 ** (failuresInRow - 1)), 'failed');
}

export function isPausingRebuilds(rebuilds: readonly Rebuild[], now: Date): boolean {
  return rebuildPause(rebuilds, now) !== undefined;
}

const NOT_THE_TARGETS_FAULT = new Set(['engine.not_found', 'node.not_ready', 'replica.not_found']);

function isBlameable({ state, error }: Rebuild): boolean {
  return state === 'failed' && !NOT_THE_TARGETS_FAULT.has(error?.code ?? '');
}

function endedAtMs({ finishedAt }: Rebuild): number {
  return finishedAt?.getTime() ?? 0;
}
