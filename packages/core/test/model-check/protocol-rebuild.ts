/** How a copy that is not current becomes it again. */
import type { ProtocolRules } from './protocol-rules.js';
import { type Act, at, type Engine, idOf, names, type State } from './protocol-state.js';
import type { Step } from './search.js';

export function* rebuilding(
  rules: ProtocolRules,
  state: State,
  engine: Engine,
  act: Act,
): Iterable<Step<State>> {
  if (engine.source !== null || engine.write !== null) return;
  const { target } = engine;
  if (target !== null) {
    if (engine.isPromoting) return;
    if (!engine.isCopied) {
      if (!rules.reaches(state, engine, target)) return;
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
      if (rules.holds('a rebuilt copy joins by a record before it is read')) return;
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
      if (rules.holds('a target of a rebuild is no member until it has all')) prepared.record = null;
      // Wiped, at worst.
      prepared.value = 0;
      prepared.flushed = 0;
      e.isCopied = false;
      if (!e.connected.includes(copy)) e.connected = [...e.connected, copy].sort();
      e.target = copy;
    });
  }
}
