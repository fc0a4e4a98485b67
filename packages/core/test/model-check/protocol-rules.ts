/** The rules of the protocol, and what an engine is and does that all of it rests on. */
import { type CopyRecord, copyRecord, mayShrinkAlone } from '../../src/model/copy-record.js';
import { at, type Bounds, type Engine, end, idOf, type State } from './protocol-state.js';

export const RULES = [
  'copies refuse older epochs',
  'a record without a dropped copy precedes the next acknowledgement',
  'an engine shrinks alone only to more than half',
  'Postgres refuses what an older engine wants recorded',
  'an attach needs half of the members',
  'an attach heeds what Postgres has recorded',
  'copies outside the highest record are stale',
  'a copy that was set back is not current',
  'a flush is acknowledged when all copies have flushed',
  'a flush waits until copies that lost something are equal to the others',
  'a copy that was opened unequal has not kept what was acknowledged',
  'regions are marked before they are written',
  'copies are made equal after an unclean stop',
  'reads come from one copy until the copies are equal',
  'marks are cleared only when nothing is being written',
  'a rebuilt copy joins by a record before it is read',
  'a target of a rebuild is no member until it has all',
  'users learn of an engine once Postgres has recorded its members',
] as const;
export type Rule = (typeof RULES)[number];

/** What engines go by, with one rule left out or none. */
export class ProtocolRules {
  constructor(
    readonly bounds: Bounds,
    private readonly without: Rule | undefined,
  ) {}

  holds(rule: Rule): boolean {
    return this.without !== rule;
  }

  accepts({ copies }: State, { epoch }: Engine, copy: number): boolean {
    return at(copies, copy).epoch === epoch || !this.holds('copies refuse older epochs');
  }

  reaches(state: State, engine: Engine, copy: number): boolean {
    return engine.connected.includes(copy) && this.accepts(state, engine, copy);
  }

  taking({ readable, target }: Engine): number[] {
    return target === null ? readable : [...readable, target];
  }

  readers(engine: Engine): number[] {
    const isOne = engine.source !== null && this.holds('reads come from one copy until the copies are equal');
    return isOne && engine.source !== null ? [engine.source] : engine.readable;
  }

  members({ readable, target, isPromoting }: Engine): number[] {
    return isPromoting && target !== null ? [...readable, target].sort() : readable;
  }

  isRecordDurable(engine: Engine): boolean {
    const wanted = this.members(engine).map((copy) => idOf(copy));
    return (
      engine.storing === null && engine.attempted.length === 0 && `${engine.durable.members}` === `${wanted}`
    );
  }

  mayAcknowledge(engine: Engine, has: readonly number[]): boolean {
    const isRecordDurable =
      this.isRecordDurable(engine) ||
      !this.holds('a record without a dropped copy precedes the next acknowledgement');
    return isRecordDurable && this.taking(engine).every((copy) => has.includes(copy));
  }

  mayShrinkAlone(engine: Engine): boolean {
    if (!this.holds('an engine shrinks alone only to more than half')) return true;
    const next = this.members(engine).map((copy) => idOf(copy));
    return [engine.durable, ...engine.attempted].every(({ members }) => mayShrinkAlone(members, next));
  }

  /** Reads wait while Postgres has to be asked. */
  mustWait(engine: Engine): boolean {
    return engine.storing === null && !this.isRecordDurable(engine) && !this.mayShrinkAlone(engine);
  }

  nextRecord(engine: Engine): CopyRecord {
    engine.generation += 1;
    return copyRecord(
      engine.epoch,
      engine.generation,
      this.members(engine).map((copy) => idOf(copy)),
      engine.complete ?? undefined,
    );
  }

  drop(state: State, engine: Engine, copy: number): void {
    if (engine.target === copy) {
      engine.target = null;
      engine.isPromoting = false;
    }
    engine.readable = engine.readable.filter((other) => other !== copy);
    engine.connected = engine.connected.filter((other) => other !== copy);
    if (engine.storing?.record.members.includes(idOf(copy))) engine.storing = null;
    if (engine.source === copy) engine.source = engine.readable[0] ?? null;
    if (engine.readable.length === 0) end(state, engine);
  }

  /** An engine that was replaced may acknowledge a flush late, if its successor has found all of it on the copies. */
  noteFlushed(state: State, engine: Engine, value: number): void {
    const successor = state.engines.find(({ epoch, phase }) => epoch > engine.epoch && phase === 'running');
    if (successor === undefined) return;
    const misses = this.readers(successor).some((copy) => at(state.copies, copy).value < value);
    if (misses) state.problem = `engine ${engine.epoch} is believed beside a newer one`;
  }
}
