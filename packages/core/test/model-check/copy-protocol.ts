/**
 * The protocol by which engines, copies and Postgres agree on which copies are current (DESIGN section 5), with one
 * block of data whose content is the number of the last write to it.
 *
 * The decisions are the real ones (`copy-record.ts`); what engines and copies do around them is told again here, one
 * message at a time. Each rule can be left out, to see what it is for.
 */
import {
  type AttachDecision,
  type CopyRecord,
  copyRecord,
  decideCurrentCopies,
  mayShrinkAlone,
} from '../../src/model/copy-record.js';
import { faults } from './protocol-faults.js';
import {
  type Act,
  at,
  type Bounds,
  disconnect,
  type Engine,
  end,
  idOf,
  indexOf,
  names,
  newEngine,
  type State,
  step,
} from './protocol-state.js';
import type { Model, Step } from './search.js';

export const RULES = [
  'copies refuse older epochs',
  'a record without a dropped copy precedes the next acknowledgement',
  'an engine shrinks alone only to more than half',
  'Postgres refuses what an older engine wants recorded',
  'an attach needs half of the members',
  'an attach heeds what Postgres has recorded',
  'copies outside the highest record are stale',
  'a flush is acknowledged when all copies have flushed',
  'a flush waits until copies that lost something are equal to the others',
  'a copy that was opened unequal has not kept what was acknowledged',
  'regions are marked before they are written',
  'copies are made equal after an unclean stop',
  'reads come from one copy until the copies are equal',
  'a copy is settled only when nothing is being written',
  'a rebuilt copy joins by a record before it is read',
  'a target of a rebuild is no member until it has all',
  'users learn of an engine once Postgres has recorded its members',
] as const;
export type Rule = (typeof RULES)[number];

export function copyProtocol(bounds: Bounds, without?: Rule): Model<State> {
  return new Protocol(bounds, without);
}

class Protocol implements Model<State> {
  readonly initial: State;

  constructor(
    private readonly bounds: Bounds,
    private readonly without: Rule | undefined,
  ) {
    const copies = Array.from({ length: bounds.copies }, (_, index) => index);
    const members = copies.map((copy) => idOf(copy));
    const record = copyRecord(1, 1, members);
    const first = newEngine(1, record);
    this.initial = {
      copies: copies.map(() => ({
        isUp: true,
        epoch: 1,
        record,
        value: 0,
        flushed: 0,
        isMarked: false,
        heldSince: 1,
      })),
      engines: [{ ...first, phase: 'running', connected: copies, readable: copies, generation: 1 }],
      postgres: { epoch: 1, known: record },
      writers: [0],
      acknowledged: 0,
      flushed: 0,
      faults: 0,
      problem: null,
    };
  }

  violation(state: State): string | undefined {
    if (state.problem !== null) return state.problem;
    // One that was replaced and has not heard of it yet may answer reads for as long as a copy's silence is borne.
    const engine = state.engines.find(
      ({ phase, epoch }) => phase === 'running' && epoch === state.postgres.epoch,
    );
    if (engine === undefined || this.mustWait(engine)) return undefined;
    const readers = this.readers(engine).filter((copy) => engine.connected.includes(copy));
    for (const copy of readers) {
      const { value } = at(state.copies, copy);
      const isLater = value > state.flushed && at(state.writers, value) >= at(state.writers, state.flushed);
      if (value !== state.flushed && !isLater) {
        return `copy ${names[copy]} is read as ${value}, and ${state.flushed} was flushed`;
      }
      const own = at(state.writers, state.acknowledged) === engine.epoch;
      if (own && value < state.acknowledged) return `copy ${names[copy]} has missed an acknowledged write`;
    }
    const values = new Set(readers.map((copy) => at(state.copies, copy).value));
    return engine.write === null && values.size > 1 ? 'two readable copies differ' : undefined;
  }

  *next(state: State): Iterable<Step<State>> {
    yield* faults(state, this.bounds.faults);
    if (state.postgres.epoch < this.bounds.epochs && state.engines.length < 2) {
      yield step(state, 'Postgres grants an attachment', (s) => {
        s.postgres.epoch += 1;
        s.engines.push(newEngine(s.postgres.epoch, s.postgres.known));
      });
    }
    for (const [index, engine] of state.engines.entries()) {
      const label = (text: string) => `engine ${engine.epoch} ${text}`;
      const act = (text: string, change: (s: State, e: Engine) => void) =>
        step(state, label(text), (s) => change(s, at(s.engines, index)));
      if (engine.phase === 'opening') yield* this.opening(state, engine, act);
      else yield* this.serving(state, engine, act);
    }
  }

  // Attaching

  private *opening(state: State, engine: Engine, act: Act): Iterable<Step<State>> {
    for (const [copy, { isUp, epoch }] of state.copies.entries()) {
      // In one order: what matters is what happens between, not which is asked first.
      if (!isUp || engine.found.some(([found]) => found >= copy)) continue;
      if (epoch > engine.epoch) {
        yield act(`finds copy ${names[copy]} with a newer one, and ends`, (s, e) => end(s, e));
        continue;
      }
      yield act(`opens copy ${names[copy]}`, (s, e) => {
        const opened = at(s.copies, copy);
        opened.epoch = e.epoch;
        const mayMiss =
          opened.isMarked && this.holds('a copy that was opened unequal has not kept what was acknowledged');
        if (opened.heldSince === 0 && !mayMiss) opened.heldSince = e.epoch;
        const { heldSince, record } = opened;
        const isKept = record !== null && heldSince !== 0 && heldSince <= record.epoch;
        e.connected.push(copy);
        e.found.push([copy, record, isKept, opened.isMarked]);
      });
    }
    const decision = this.decide(state, engine);
    if (decision.kind !== 'go') return;
    const current = decision.current
      .map((id) => indexOf(id))
      .filter((copy) => engine.connected.includes(copy));
    if (current.length === 0) return;
    yield act(`begins with ${current.map((copy) => names[copy])}`, (_, e) => {
      e.phase = 'first record';
      e.readable = current;
      const facts = e.found.filter(([copy]) => current.includes(copy));
      const isUnclean = facts.some(([, , , isMarked]) => isMarked);
      if (isUnclean && this.holds('copies are made equal after an unclean stop')) {
        e.source = (facts.find(([, , isKept]) => isKept) ?? facts[0])?.[0] ?? null;
      }
      e.hasOlder = facts.every(([, , isKept]) => isKept);
      e.found = [];
      e.durable = this.nextRecord(e);
      e.attempted = [e.durable];
      e.storing = { record: e.durable, has: [] };
    });
  }

  private decide({ postgres }: State, { found }: Engine): AttachDecision {
    const records = found.flatMap(([copy, record]) => (record === null ? [] : [[copy, record] as const]));
    const known = this.holds('an attach heeds what Postgres has recorded') ? postgres.known : undefined;
    const survey = { known, found: new Map(records.map(([copy, record]) => [idOf(copy), record])) };
    const decision = decideCurrentCopies(survey);
    const record = decision.record;
    if (record === undefined || records.length === 0) return decision;
    const all = records.map(([copy]) => idOf(copy));
    if (!this.holds('copies outside the highest record are stale')) {
      return { kind: 'go', record, current: all, stale: [] };
    }
    if (decision.kind === 'wait' && !this.holds('an attach needs half of the members')) {
      const current = all.filter((id) => record.members.includes(id));
      return current.length === 0 ? decision : { kind: 'go', record, current, stale: [] };
    }
    return decision;
  }

  // Serving

  private *serving(state: State, engine: Engine, act: Act): Iterable<Step<State>> {
    for (const copy of this.taking(engine)) {
      if (engine.connected.includes(copy) && this.accepts(state, engine, copy)) continue;
      yield act(`drops copy ${names[copy]}`, (s, e) => this.drop(s, e, copy));
    }
    yield* this.recording(state, engine, act);
    if (engine.phase === 'unannounced' && state.postgres.epoch === engine.epoch && this.isSettled(engine)) {
      yield act('is announced with its record', (s, e) => {
        s.postgres.known = e.durable;
        e.phase = 'running';
      });
    }
    if (engine.phase !== 'running') return;
    yield* this.writing(state, engine, act);
    yield* this.flushing(state, engine, act);
    yield* this.equalising(state, engine, act);
    yield* this.rebuilding(state, engine, act);
  }

  private *recording(state: State, engine: Engine, act: Act): Iterable<Step<State>> {
    const { storing } = engine;
    if (storing !== null) {
      for (const copy of storing.record.members.map((id) => indexOf(id))) {
        if (storing.has.includes(copy) || !engine.connected.includes(copy)) continue;
        if (!this.accepts(state, engine, copy)) continue;
        yield act(`stores its record on copy ${names[copy]}`, (s, e) => this.store(s, e, copy));
      }
      return;
    }
    if (this.isSettled(engine)) return;
    const mayAlone = this.mayShrinkAlone(engine);
    yield act(mayAlone ? 'makes a record' : 'asks Postgres to record its members', (s, e) => {
      const record = this.nextRecord(e);
      if (!mayAlone) {
        if (
          s.postgres.epoch !== e.epoch &&
          this.holds('Postgres refuses what an older engine wants recorded')
        ) {
          end(s, e);
          return;
        }
        s.postgres.known = record;
        e.durable = record;
        e.attempted = [];
      }
      e.attempted.push(record);
      e.storing = { record, has: [] };
    });
  }

  private store(state: State, engine: Engine, copy: number): void {
    const { storing } = engine;
    if (storing === null) return;
    at(state.copies, copy).record = storing.record;
    storing.has = [...storing.has, copy].sort();
    if (storing.has.length < storing.record.members.length) return;
    engine.durable = storing.record;
    engine.attempted = [];
    engine.storing = null;
    if (engine.phase === 'first record') {
      const isLater = this.holds('users learn of an engine once Postgres has recorded its members');
      engine.phase = isLater ? 'unannounced' : 'running';
    }
    if (engine.target === null || !storing.record.members.includes(idOf(engine.target))) return;
    engine.readable = [...new Set([...engine.readable, engine.target])].sort();
    engine.target = null;
    engine.isPromoting = false;
  }

  private *writing(state: State, engine: Engine, act: Act): Iterable<Step<State>> {
    const { write } = engine;
    if (write === null) {
      if (state.writers.length > this.bounds.writes || engine.source !== null) return;
      yield act(`sends write ${state.writers.length}`, (s, e) => {
        e.write = { value: s.writers.length, has: [] };
        s.writers.push(e.epoch);
      });
      return;
    }
    for (const copy of this.taking(engine)) {
      if (write.has.includes(copy) || !this.reaches(state, engine, copy)) continue;
      yield act(`has write ${write.value} arrive at copy ${names[copy]}`, (s, e) => {
        const written = at(s.copies, copy);
        written.value = write.value;
        written.isMarked ||= this.holds('regions are marked before they are written');
        e.write?.has.push(copy);
        e.write?.has.sort();
      });
    }
    if (!this.mayAcknowledge(engine, write.has)) return;
    yield act(`acknowledges write ${write.value}`, (s, e) => {
      s.acknowledged = Math.max(s.acknowledged, write.value);
      e.write = null;
    });
  }

  private *flushing(state: State, engine: Engine, act: Act): Iterable<Step<State>> {
    const { flush } = engine;
    if (flush === null) {
      const covers = engine.source === null || engine.hasOlder;
      if (!covers && this.holds('a flush waits until copies that lost something are equal to the others'))
        return;
      // What was acknowledged, never flushed and lost with the process of a copy is promised by nobody: it is not read.
      const read = this.readers(engine).map((copy) => at(state.copies, copy).value);
      const value = Math.min(state.acknowledged, ...read);
      if (value <= state.flushed) return;
      yield act('sends a flush', (_, e) => {
        e.flush = { value, has: [] };
      });
      return;
    }
    for (const copy of this.taking(engine)) {
      if (flush.has.includes(copy) || !this.reaches(state, engine, copy)) continue;
      yield act(`has copy ${names[copy]} flush`, (s, e) => {
        const flushed = at(s.copies, copy);
        flushed.flushed = flushed.value;
        e.flush?.has.push(copy);
        e.flush?.has.sort();
      });
    }
    const isEnough = this.holds('a flush is acknowledged when all copies have flushed')
      ? this.mayAcknowledge(engine, flush.has)
      : flush.has.length > 0 && this.isSettled(engine);
    if (!isEnough) return;
    yield act('acknowledges the flush', (s, e) => {
      this.noteFlushed(s, e, flush.value);
      s.flushed = Math.max(s.flushed, flush.value);
      e.flush = null;
    });
  }

  private *equalising(state: State, engine: Engine, act: Act): Iterable<Step<State>> {
    const { source } = engine;
    if (source !== null && engine.write === null) {
      if (!engine.readable.every((copy) => this.reaches(state, engine, copy))) return;
      yield act('makes the copies equal', (s, e) => {
        for (const copy of e.readable) {
          const held = at(s.copies, copy);
          if (held.value === at(s.copies, source).value) continue;
          held.value = at(s.copies, source).value;
          held.isMarked = true;
        }
        e.source = null;
      });
    }
    const isQuiet =
      engine.write === null || !this.holds('a copy is settled only when nothing is being written');
    if (source !== null || !isQuiet || !this.isSettled(engine)) return;
    for (const copy of engine.readable) {
      if (!this.reaches(state, engine, copy) || !at(state.copies, copy).isMarked) continue;
      yield act(`settles copy ${names[copy]}`, (s, e) => {
        const settled = at(s.copies, copy);
        if (settled.heldSince === 0) settled.heldSince = e.epoch;
        settled.flushed = settled.value;
        settled.isMarked = false;
      });
    }
  }

  private *rebuilding(state: State, engine: Engine, act: Act): Iterable<Step<State>> {
    if (engine.source !== null || engine.write !== null) return;
    const { target } = engine;
    if (target !== null) {
      if (engine.isPromoting) return;
      if (!engine.isCopied) {
        if (!this.reaches(state, engine, target)) return;
        yield act(`copies all to copy ${names[target]}`, (s, e) => {
          const filled = at(s.copies, target);
          filled.value = at(s.copies, e.readable[0] ?? 0).value;
          filled.flushed = filled.value;
          filled.heldSince ||= e.epoch;
          e.isCopied = true;
        });
        return;
      }
      yield act(`promotes copy ${names[target]}`, (_, e) => {
        e.isPromoting = true;
        if (this.holds('a rebuilt copy joins by a record before it is read')) return;
        e.readable = [...e.readable, target].sort();
        e.durable = { ...e.durable, members: [...e.durable.members, idOf(target)].sort() };
        e.target = null;
        e.isPromoting = false;
      });
      return;
    }
    for (const [copy, { isUp, epoch }] of state.copies.entries()) {
      if (engine.readable.includes(copy) || !isUp || epoch > engine.epoch) continue;
      yield act(`prepares copy ${names[copy]} for a rebuild`, (s, e) => {
        const prepared = at(s.copies, copy);
        prepared.epoch = e.epoch;
        if (this.holds('a target of a rebuild is no member until it has all')) prepared.record = null;
        // Wiped, at worst.
        prepared.value = 0;
        prepared.flushed = 0;
        e.isCopied = false;
        if (!e.connected.includes(copy)) e.connected = [...e.connected, copy].sort();
        e.target = copy;
      });
    }
  }

  // What all of it rests on

  private holds(rule: Rule): boolean {
    return this.without !== rule;
  }

  private accepts({ copies }: State, { epoch }: Engine, copy: number): boolean {
    return at(copies, copy).epoch === epoch || !this.holds('copies refuse older epochs');
  }

  private reaches(state: State, engine: Engine, copy: number): boolean {
    return engine.connected.includes(copy) && this.accepts(state, engine, copy);
  }

  private taking({ readable, target }: Engine): number[] {
    return target === null ? readable : [...readable, target];
  }

  private readers(engine: Engine): number[] {
    const isOne = engine.source !== null && this.holds('reads come from one copy until the copies are equal');
    return isOne && engine.source !== null ? [engine.source] : engine.readable;
  }

  private members({ readable, target, isPromoting }: Engine): number[] {
    return isPromoting && target !== null ? [...readable, target].sort() : readable;
  }

  private isSettled(engine: Engine): boolean {
    const wanted = this.members(engine).map((copy) => idOf(copy));
    return (
      engine.storing === null && engine.attempted.length === 0 && `${engine.durable.members}` === `${wanted}`
    );
  }

  private mayAcknowledge(engine: Engine, has: readonly number[]): boolean {
    const isSettled =
      this.isSettled(engine) ||
      !this.holds('a record without a dropped copy precedes the next acknowledgement');
    return isSettled && this.taking(engine).every((copy) => has.includes(copy));
  }

  private mayShrinkAlone(engine: Engine): boolean {
    if (!this.holds('an engine shrinks alone only to more than half')) return true;
    const next = this.members(engine).map((copy) => idOf(copy));
    return [engine.durable, ...engine.attempted].every(({ members }) => mayShrinkAlone(members, next));
  }

  /** Reads wait while Postgres has to be asked. */
  private mustWait(engine: Engine): boolean {
    return engine.storing === null && !this.isSettled(engine) && !this.mayShrinkAlone(engine);
  }

  private nextRecord(engine: Engine): CopyRecord {
    engine.generation += 1;
    return copyRecord(
      engine.epoch,
      engine.generation,
      this.members(engine).map((copy) => idOf(copy)),
    );
  }

  private drop(state: State, engine: Engine, copy: number): void {
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
  private noteFlushed(state: State, engine: Engine, value: number): void {
    const successor = state.engines.find(({ epoch, phase }) => epoch > engine.epoch && phase === 'running');
    if (successor === undefined) return;
    const misses = this.readers(successor).some((copy) => at(state.copies, copy).value < value);
    if (misses) state.problem = `engine ${engine.epoch} is believed beside a newer one`;
  }
}
