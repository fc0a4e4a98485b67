/**
 * Collects ids of changed resources, for readers that fetch the resources they show: each id once, however often it changes, and no more
 * ids than such a reader fetches one by one.
 */
import type { StreamSink } from './event-stream.js';

/** Ids by kind; null: more have changed than are listed. */
export type ChangedIds = Readonly<Record<string, readonly string[] | null>>;

/** Beyond this, readers fetch the whole list anyway. */
const IDS_MAX = 20;
/** The first change is sent at once, and those within this time after it together: users see no difference. */
const COLLECT_MS = 500;

export class ChangeCollector {
  private readonly ids = new Map<string, Set<string>>();

  note(kind: string, id: string): void {
    const known = this.ids.get(kind) ?? new Set();
    // One more than the limit shows that there are more.
    if (known.size <= IDS_MAX) known.add(id);
    this.ids.set(kind, known);
  }

  /** Ids since the last call; `undefined`: none. */
  take(): ChangedIds | undefined {
    if (this.ids.size === 0) return undefined;
    const taken = [...this.ids].map(([kind, ids]) => [kind, ids.size > IDS_MAX ? null : [...ids]] as const);
    this.ids.clear();
    return Object.fromEntries(taken);
  }
}

type Told = Pick<StreamSink, 'gap' | 'keepAlive' | 'end'> & { ids(changed: ChangedIds): void };

/**
 * Runs a function after the collection time.
 * @returns cancels it
 */
type AfterCollecting = (run: () => void) => () => void;

function afterCollecting(run: () => void): () => void {
  const timer = setTimeout(run, COLLECT_MS);
  return () => clearTimeout(timer);
}

/** Sends events and changes by their ids alone. An event of a copy or a rebuild also counts as a change of its volume. */
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
      // A rebuild's progress is listed under its volume, so its events are, too.
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
