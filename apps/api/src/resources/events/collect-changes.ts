/**
 * Ids of what has changed, collected for readers that ask for what they show anyway: each resource once, however often it changes, and
 * no more ids than such a reader asks for one by one.
 */
import type { StreamSink } from './event-stream.js';

/** Ids by their kinds; null: more of the kind have changed than are named. */
export type ChangedIds = Readonly<Record<string, readonly string[] | null>>;

/** Past that a list is asked for as a whole, which the ids of more would not help. */
const IDS_MAX = 20;
/** The first change is told at once, and what comes within this time after it together: a user sees no difference. */
const COLLECT_MS = 500;

export class ChangeCollector {
  private readonly ids = new Map<string, Set<string>>();

  note(kind: string, id: string): void {
    const known = this.ids.get(kind) ?? new Set();
    // One more than is named says that there are more.
    if (known.size <= IDS_MAX) known.add(id);
    this.ids.set(kind, known);
  }

  /** What was noted since the last time; `undefined`: nothing. */
  take(): ChangedIds | undefined {
    if (this.ids.size === 0) return undefined;
    const taken = [...this.ids].map(([kind, ids]) => [kind, ids.size > IDS_MAX ? null : [...ids]] as const);
    this.ids.clear();
    return Object.fromEntries(taken);
  }
}

type Told = Pick<StreamSink, 'gap' | 'stillHere' | 'end'> & { ids(changed: ChangedIds): void };

/** Runs something once the time to collect is over. @returns calls it off */
type AfterCollecting = (run: () => void) => () => void;

function afterCollecting(run: () => void): () => void {
  const timer = setTimeout(run, COLLECT_MS);
  return () => clearTimeout(timer);
}

/** Tells events and changes by their ids alone. What an event of a copy or a rebuild says is a change of its volume, too. */
export function collectingSink(
  { ids, end, ...sink }: Told,
  after: AfterCollecting = afterCollecting,
): StreamSink {
  const collector = new ChangeCollector();
  let callOff: (() => void) | undefined;
  const tell = () => {
    const changed = collector.take();
    callOff = changed === undefined ? undefined : after(tell);
    if (changed !== undefined) ids(changed);
  };
  const soon = () => {
    if (callOff === undefined) tell();
  };
  return {
    ...sink,
    event({ id, subject, volumeId }) {
      collector.note('event', id);
      if (volumeId !== null) collector.note('volume', volumeId);
      // Progress of a rebuild is told by its volume, so its events are, too.
      if (subject.kind === 'rebuild') collector.note('rebuild', volumeId ?? subject.id);
      else if (subject.kind !== 'volume') collector.note(subject.kind, subject.id);
      soon();
    },
    change({ subject }) {
      collector.note(subject.kind, subject.id);
      soon();
    },
    end() {
      callOff?.();
      end();
    },
  };
}
