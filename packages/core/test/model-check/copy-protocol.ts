/**
 * The protocol by which engines, copies and Postgres agree on which copies are current (docs/adr/0004-copy-records.md), with one
 * block of data whose content is the number of the last write to it.
 *
 * The decisions are the real ones (`copy-record.ts`); what engines and copies do around them is told again here, one
 * message at a time. Each rule can be left out, to see what it is for.
 */
import { copyRecord } from '../../src/model/copy-record.js';
import { opening } from './protocol-attach.js';
import { faults } from './protocol-faults.js';
import { equalising, flushing, writing } from './protocol-io.js';
import { rebuilding } from './protocol-rebuild.js';
import { recording } from './protocol-records.js';
import { ProtocolRules, type Rule } from './protocol-rules.js';
import {
  type Act,
  at,
  type Bounds,
  type Engine,
  idOf,
  names,
  newEngine,
  numberOf,
  type State,
  step,
} from './protocol-state.js';
import type { Model, Step } from './search.js';

export function copyProtocol(bounds: Bounds, without?: Rule): Model<State> {
  return new Protocol(new ProtocolRules(bounds, without));
}

class Protocol implements Model<State> {
  readonly initial: State;

  constructor(private readonly rules: ProtocolRules) {
    const { bounds } = rules;
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
        before: null,
      })),
      engines: [
        {
          ...first,
          phase: 'running',
          connected: copies,
          readable: copies,
          generation: 1,
          complete: numberOf(record),
        },
      ],
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
    if (engine === undefined || this.rules.mustWait(engine)) return undefined;
    const readers = this.rules.readers(engine).filter((copy) => engine.connected.includes(copy));
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
    yield* faults(state, this.rules.bounds.faults);
    if (state.postgres.epoch < this.rules.bounds.epochs && state.engines.length < 2) {
      yield step(state, 'Postgres grants an attachment', (s) => {
        s.postgres.epoch += 1;
        s.engines.push(newEngine(s.postgres.epoch, s.postgres.known));
      });
    }
    for (const [index, engine] of state.engines.entries()) {
      const label = (text: string) => `engine ${engine.epoch} ${text}`;
      const act = (text: string, change: (s: State, e: Engine) => void) =>
        step(state, label(text), (s) => change(s, at(s.engines, index)));
      if (engine.phase === 'opening') yield* opening(this.rules, state, engine, act);
      else yield* this.serving(state, engine, act);
    }
  }

  private *serving(state: State, engine: Engine, act: Act): Iterable<Step<State>> {
    const { rules } = this;
    for (const copy of rules.taking(engine)) {
      if (engine.connected.includes(copy) && rules.accepts(state, engine, copy)) continue;
      yield act(`drops copy ${names[copy]}`, (s, e) => rules.drop(s, e, copy));
    }
    yield* recording(rules, state, engine, act);
    if (
      engine.phase === 'unannounced' &&
      state.postgres.epoch === engine.epoch &&
      rules.isRecordDurable(engine)
    ) {
      yield act('is announced with its record', (s, e) => {
        s.postgres.known = { ...e.durable, durable: numberOf(e.durable) };
        e.phase = 'running';
      });
    }
    if (engine.phase !== 'running') return;
    yield* writing(rules, state, engine, act);
    yield* flushing(rules, state, engine, act);
    yield* equalising(rules, state, engine, act);
    yield* rebuilding(rules, state, engine, act);
  }
}
