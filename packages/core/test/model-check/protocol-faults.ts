import { compareRecords } from '../../src/model/copy-record.js';
import { at, disconnect, names, type State, step } from './protocol-state.js';
import type { Step } from './search.js';

/** Only what was on all members, and is told to be, can be missed: the engine is announced with its first record. */
function isKnownToBeNewer({ copies, postgres }: State, copy: number): boolean {
  const record = at(copies, copy).before?.record;
  const { durable } = postgres.known;
  return (
    record !== null && record !== undefined && durable !== undefined && compareRecords(record, durable) < 0
  );
}

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
    if (isKnownToBeNewer(state, copy)) {
      yield step(state, `copy ${name} is set back`, (s) => {
        const lost = at(s.copies, copy);
        Object.assign(lost, lost.before, { heldSince: 0, before: null });
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
