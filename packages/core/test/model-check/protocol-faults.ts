import { at, disconnect, names, type State, step } from './protocol-state.js';
import type { Step } from './search.js';

/** What may break at any moment: processes of copies, the way to them, engines. */
export function* faults(state: State, faultsMax: number): Iterable<Step<State>> {
  for (const [copy, { isUp, value, flushed }] of state.copies.entries()) {
    const name = names[copy];
    if (!isUp) {
      yield step(state, `copy ${name} returns`, (s) => {
        at(s.copies, copy).isUp = true;
      });
      continue;
    }
    if (state.faults === faultsMax) continue;
    for (const left of new Set([value, flushed])) {
      yield step(state, `the process of copy ${name} dies, leaving ${left}`, (s) => {
        const lost = at(s.copies, copy);
        lost.value = left;
        lost.flushed = left;
        lost.heldSince = 0;
        disconnect(s, copy);
        s.faults += 1;
      });
    }
    yield step(state, `copy ${name} is cut off`, (s) => {
      at(s.copies, copy).isUp = false;
      disconnect(s, copy);
      s.faults += 1;
    });
  }
  if (state.faults === faultsMax) return;
  for (const [index, { epoch }] of state.engines.entries()) {
    yield step(state, `engine ${epoch} dies`, (s) => {
      s.engines.splice(index, 1);
      s.faults += 1;
    });
  }
}
