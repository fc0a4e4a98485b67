/** What engines, copies and Postgres hold in the model of their protocol (`copy-protocol.ts`), and small steps on it. */
import type { CopyRecord, RecordNumber } from '../../src/model/copy-record.js';
import type { ReplicaId } from '../../src/model/ids.js';
import { copyOf, type Step } from './search.js';

type Copy = {
  isUp: boolean;
  /** Of the last engine that opened it. */
  epoch: number;
  record: CopyRecord | null;
  /** What it reads as, and what of that a crash of its process leaves at least. */
  value: number;
  flushed: number;
  isMarked: boolean;
  /** The epoch since which its process has held it with nothing missing; 0 where something may be missing. */
  heldSince: number;
  /** What it held before it stored its record: what a snapshot of its machine may bring back. */
  before: Earlier | null;
};

type Earlier = Pick<Copy, 'epoch' | 'record' | 'value' | 'flushed' | 'isMarked'>;

export type Engine = {
  epoch: number;
  phase: 'opening' | 'first record' | 'unannounced' | 'running';
  /** Copies it can talk to. */
  connected: number[];
  found: [copy: number, record: CopyRecord | null, isKept: boolean, isMarked: boolean][];
  readable: number[];
  /** Gets writes, is not read from: being rebuilt. */
  target: number | null;
  /** The target has all that the others have. */
  isCopied: boolean;
  isPromoting: boolean;
  durable: CopyRecord;
  attempted: CopyRecord[];
  /** The newest record that is known to be on all its members. */
  complete: RecordNumber | null;
  generation: number;
  storing: { record: CopyRecord; has: number[] } | null;
  write: { value: number; has: number[] } | null;
  flush: { value: number; has: number[] } | null;
  /** Reads come from this one, until all are equal. */
  source: number | null;
  /** Its copies have what was acknowledged before it began, so that a flush of them covers that too. */
  hasOlder: boolean;
};

export type State = {
  copies: Copy[];
  engines: Engine[];
  postgres: { epoch: number; known: CopyRecord };
  /** The epoch that each write was sent at, by its number. */
  writers: number[];
  acknowledged: number;
  flushed: number;
  faults: number;
  problem: string | null;
};

export type Bounds = { copies: number; epochs: number; writes: number; faults: number };

export const names = ['a', 'b', 'c'];
export const idOf = (copy: number): ReplicaId => names[copy] as ReplicaId;
export const indexOf = (id: string): number => names.indexOf(id);

/** Offers a step of one engine under its name. */
export type Act = (text: string, change: (state: State, engine: Engine) => void) => Step<State>;

export function newEngine(epoch: number, known: CopyRecord): Engine {
  return {
    epoch,
    phase: 'opening',
    connected: [],
    found: [],
    readable: [],
    target: null,
    isCopied: false,
    isPromoting: false,
    durable: known,
    attempted: [],
    complete: null,
    generation: 0,
    storing: null,
    write: null,
    flush: null,
    source: null,
    hasOlder: true,
  };
}

/** The state is made when it is asked for: most steps of a walk are not taken. */
export function step(state: State, label: string, change: (next: State) => void): Step<State> {
  return {
    label,
    get state() {
      const next = copyOf(state);
      change(next);
      return next;
    },
  };
}

export function end(state: State, engine: Engine): void {
  state.engines = state.engines.filter((other) => other !== engine);
}

export function disconnect(state: State, copy: number): void {
  for (const engine of state.engines) {
    engine.connected = engine.connected.filter((other) => other !== copy);
    // A copy that an opening engine has lost is not one that it has found.
    engine.found = engine.found.filter(([other]) => other !== copy);
  }
}

export function numberOf({ epoch, dataGeneration }: CopyRecord): RecordNumber {
  return { epoch, dataGeneration };
}

export function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new Error(`nothing at ${index}`);
  return found;
}
