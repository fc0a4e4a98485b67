/**
 * Events of one cause, folded under it: when a node falls silent, what a user has to read is one line, and not a thousand volumes.
 */
import type { ClusterEvent } from '../api/types';

export type FoldedEvent = {
  readonly event: ClusterEvent;
  /** `after`: changes of volumes that followed it closely; `like`: others of the same type. */
  readonly under: readonly ClusterEvent[];
  readonly why: 'after' | 'like';
};

const CAUSES: ReadonlySet<string> = new Set(['NodeNotReady', 'NodeReady', 'DiskNotReady', 'DiskReady']);
const EFFECTS: ReadonlySet<string> = new Set([
  'VolumeUnknown',
  'VolumeDegraded',
  'VolumeFaulted',
  'VolumeHealthy',
  'ReplicaFailed',
]);
/** The worker gets through thousands of volumes in this time; what is later has another story. */
const FOLLOWS_MS = 60_000;
/** Fewer of one type in a row are as soon read as unfolded. */
const ALIKE_MIN = 4;

/** @param events newest first */
export function foldEvents(events: readonly ClusterEvent[]): FoldedEvent[] {
  const causes = events.filter(({ type }) => CAUSES.has(type));
  const under = new Map<string, ClusterEvent[]>(causes.map(({ id }) => [id, []]));
  const rest = events.filter((event) => {
    const cause = EFFECTS.has(event.type) ? causeOf(event, causes) : undefined;
    if (cause === undefined) return true;
    under.get(cause.id)?.push(event);
    return false;
  });
  return runsOf(rest).flatMap((run) => foldRun(run, under));
}

/** The last cause before it. */
function causeOf({ at }: ClusterEvent, causes: readonly ClusterEvent[]): ClusterEvent | undefined {
  const atMs = Date.parse(at);
  return causes.find((cause) => Date.parse(cause.at) <= atMs && atMs - Date.parse(cause.at) <= FOLLOWS_MS);
}

function runsOf(events: readonly ClusterEvent[]): ClusterEvent[][] {
  const runs: ClusterEvent[][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run?.[0]?.type === event.type && !CAUSES.has(event.type)) run.push(event);
    else runs.push([event]);
  }
  return runs;
}

function foldRun(run: readonly ClusterEvent[], under: ReadonlyMap<string, ClusterEvent[]>): FoldedEvent[] {
  const [first, ...others] = run;
  if (first !== undefined && run.length >= ALIKE_MIN) return [{ event: first, under: others, why: 'like' }];
  return run.map((event) => ({ event, under: under.get(event.id) ?? [], why: 'after' }));
}
