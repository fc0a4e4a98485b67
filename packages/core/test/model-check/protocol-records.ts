/** How an engine changes its members: on its own where it may, else after Postgres recorded them. */
import type { ProtocolRules } from './protocol-rules.js';
import {
  type Act,
  at,
  type Engine,
  end,
  idOf,
  indexOf,
  names,
  numberOf,
  type State,
} from './protocol-state.js';
import type { Step } from './search.js';

export function* recording(
  rules: ProtocolRules,
  state: State,
  engine: Engine,
  act: Act,
): Iterable<Step<State>> {
  const { storing } = engine;
  if (storing !== null) {
    for (const copy of storing.record.members.map((id) => indexOf(id))) {
      if (storing.has.includes(copy) || !engine.connected.includes(copy)) continue;
      if (!rules.accepts(state, engine, copy)) continue;
      yield act(`stores its record on copy ${names[copy]}`, (s, e) => store(rules, s, e, copy));
    }
    return;
  }
  if (rules.isRecordDurable(engine)) return;
  const mayAlone = rules.mayShrinkAlone(engine);
  yield act(mayAlone ? 'makes a record' : 'asks Postgres to record its members', (s, e) => {
    const record = rules.nextRecord(e);
    if (!mayAlone) {
      if (
        s.postgres.epoch !== e.epoch &&
        rules.holds('Postgres refuses what an older engine wants recorded')
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

function store(rules: ProtocolRules, state: State, engine: Engine, copy: number): void {
  const { storing } = engine;
  if (storing === null) return;
  const holder = at(state.copies, copy);
  const { epoch, record, value, flushed, isMarked } = holder;
  holder.before = { epoch, record, value, flushed, isMarked };
  holder.record = storing.record;
  storing.has = [...storing.has, copy].sort();
  if (storing.has.length < storing.record.members.length) return;
  engine.durable = storing.record;
  engine.complete = numberOf(storing.record);
  engine.attempted = [];
  engine.storing = null;
  if (engine.phase === 'first record') {
    const isLater = rules.holds('users learn of an engine once Postgres has recorded its members');
    engine.phase = isLater ? 'unannounced' : 'running';
  }
  if (engine.target === null || !storing.record.members.includes(idOf(engine.target))) return;
  engine.readable = [...new Set([...engine.readable, engine.target])].sort();
  engine.target = null;
  engine.isPromoting = false;
}
