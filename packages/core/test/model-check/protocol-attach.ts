/** How an engine opens the copies, decides which to believe, and begins. */
import { type AttachDecision, decideCurrentCopies } from '../../src/model/copy-record.js';
import { asId, type NodeId } from '../../src/model/ids.js';
import type { ProtocolRules } from './protocol-rules.js';
import { type Act, at, type Engine, end, idOf, indexOf, names, type State } from './protocol-state.js';
import type { Step } from './search.js';

export function* opening(
  rules: ProtocolRules,
  state: State,
  engine: Engine,
  act: Act,
): Iterable<Step<State>> {
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
        opened.isMarked && rules.holds('a copy that was opened unequal has not kept what was acknowledged');
      if (opened.heldSince === 0 && !mayMiss) opened.heldSince = e.epoch;
      const { heldSince, record } = opened;
      const isKept = record !== null && heldSince !== 0 && heldSince <= record.epoch;
      e.connected.push(copy);
      e.found.push([copy, record, isKept, opened.isMarked]);
    });
  }
  const decision = decide(rules, state, engine);
  if (decision.kind !== 'go') return;
  const current = decision.current.map((id) => indexOf(id)).filter((copy) => engine.connected.includes(copy));
  if (current.length === 0) return;
  yield act(`begins with ${current.map((copy) => names[copy])}`, (_, e) => {
    e.phase = 'first record';
    e.readable = current;
    const facts = e.found.filter(([copy]) => current.includes(copy));
    const isUnclean = facts.some(([, , , isMarked]) => isMarked);
    if (isUnclean && rules.holds('copies are made equal after an unclean stop')) {
      e.source = (facts.find(([, , isKept]) => isKept) ?? facts[0])?.[0] ?? null;
    }
    e.hasOlder = facts.every(([, , isKept]) => isKept);
    e.found = [];
    e.complete = decision.record.durable ?? null;
    e.durable = rules.nextRecord(e);
    e.attempted = [e.durable];
    e.storing = { record: e.durable, has: [] };
  });
}

function decide(rules: ProtocolRules, { postgres }: State, { found }: Engine): AttachDecision {
  const records = found.flatMap(([copy, record]) => (record === null ? [] : [[copy, record] as const]));
  const known = rules.holds('an attach heeds what Postgres has recorded') ? postgres.known : undefined;
  const believes = !rules.holds('a copy that was set back is not current');
  const survey = {
    known: known && believes ? { ...known, durable: undefined } : known,
    found: new Map(
      records.map(([copy, record]) => [idOf(copy), believes ? { ...record, durable: undefined } : record]),
    ),
  };
  // Each copy is on a node of its own, and the engine on none of them.
  const nodeOf = new Map(records.map(([copy]) => [idOf(copy), asId<NodeId>(`node-${copy}`)]));
  const decision = decideCurrentCopies({ ...survey, places: { nodeOf, holderId: undefined } });
  const record = decision.record;
  if (record === undefined || records.length === 0) return decision;
  const all = records.map(([copy]) => idOf(copy));
  if (!rules.holds('copies outside the highest record are stale')) {
    return { kind: 'go', record, current: all, stale: [] };
  }
  if (decision.kind === 'wait' && !rules.holds('an attach needs half of the members')) {
    const current = all.filter((id) => record.members.includes(id));
    return current.length === 0 ? decision : { kind: 'go', record, current, stale: [] };
  }
  return decision;
}
