/** How writes and flushes reach the copies, and how the copies become equal again. */
import type { ProtocolRules } from './protocol-rules.js';
import { type Act, at, type Engine, names, type State } from './protocol-state.js';
import type { Step } from './search.js';

export function* writing(
  rules: ProtocolRules,
  state: State,
  engine: Engine,
  act: Act,
): Iterable<Step<State>> {
  const { write } = engine;
  if (write === null) {
    if (state.writers.length > rules.bounds.writes || engine.source !== null) return;
    yield act(`sends write ${state.writers.length}`, (s, e) => {
      e.write = { value: s.writers.length, has: [] };
      s.writers.push(e.epoch);
    });
    return;
  }
  for (const copy of rules.taking(engine)) {
    if (write.has.includes(copy) || !rules.reaches(state, engine, copy)) continue;
    yield act(`has write ${write.value} arrive at copy ${names[copy]}`, (s, e) => {
      const written = at(s.copies, copy);
      written.value = write.value;
      written.isMarked ||= rules.holds('regions are marked before they are written');
      e.write?.has.push(copy);
      e.write?.has.sort();
    });
  }
  if (!rules.mayAcknowledge(engine, write.has)) return;
  yield act(`acknowledges write ${write.value}`, (s, e) => {
    s.acknowledged = Math.max(s.acknowledged, write.value);
    e.write = null;
  });
}

export function* flushing(
  rules: ProtocolRules,
  state: State,
  engine: Engine,
  act: Act,
): Iterable<Step<State>> {
  const { flush } = engine;
  if (flush === null) {
    const covers = engine.source === null || engine.hasOlder;
    if (!covers && rules.holds('a flush waits until copies that lost something are equal to the others'))
      return;
    // What was acknowledged, never flushed and lost with the process of a copy is no promise of any engine: it is not read.
    const read = rules.readers(engine).map((copy) => at(state.copies, copy).value);
    const value = Math.min(state.acknowledged, ...read);
    if (value <= state.flushed) return;
    yield act('sends a flush', (_, e) => {
      e.flush = { value, has: [] };
    });
    return;
  }
  for (const copy of rules.taking(engine)) {
    if (flush.has.includes(copy) || !rules.reaches(state, engine, copy)) continue;
    yield act(`has copy ${names[copy]} flush`, (s, e) => {
      const flushed = at(s.copies, copy);
      flushed.flushed = flushed.value;
      e.flush?.has.push(copy);
      e.flush?.has.sort();
    });
  }
  const isEnough = rules.holds('a flush is acknowledged when all copies have flushed')
    ? rules.mayAcknowledge(engine, flush.has)
    : flush.has.length > 0 && rules.isRecordDurable(engine);
  if (!isEnough) return;
  yield act('acknowledges the flush', (s, e) => {
    rules.noteFlushed(s, e, flush.value);
    s.flushed = Math.max(s.flushed, flush.value);
    e.flush = null;
  });
}

export function* equalising(
  rules: ProtocolRules,
  state: State,
  engine: Engine,
  act: Act,
): Iterable<Step<State>> {
  const { source } = engine;
  if (source !== null && engine.write === null) {
    if (!engine.readable.every((copy) => rules.reaches(state, engine, copy))) return;
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
    engine.write === null || !rules.holds('marks are cleared only when nothing is being written');
  if (source !== null || !isQuiet || !rules.isRecordDurable(engine)) return;
  for (const copy of engine.readable) {
    if (!rules.reaches(state, engine, copy) || !at(state.copies, copy).isMarked) continue;
    yield act(`clears the marks of copy ${names[copy]}`, (s, e) => {
      const told = at(s.copies, copy);
      if (told.heldSince === 0) told.heldSince = e.epoch;
      told.flushed = told.value;
      told.isMarked = false;
    });
  }
}
