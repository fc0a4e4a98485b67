import { compareIds, type NodeId, type ReplicaId } from './ids.js';

/**
 * Copy record: which copies of a volume are current, as each copy has stored it
 * (docs/adr/0004-copy-records.md).
 *
 * Records are ordered by (epoch, dataGeneration). The engine writes a new record to every member before it
 * acknowledges anything under it, so a copy named in the highest record is current even if it had not yet written
 * that record when everything stopped.
 */
export type CopyRecord = {
  /** Of the attachment under which the record was written; 0 before the first attachment. */
  readonly epoch: number;
  /** Grows with each change of the members within an epoch. */
  readonly dataGeneration: number;
  /** Sorted by id. */
  readonly members: readonly ReplicaId[];
  /**
   * The newest record that every one of these members is known to have stored when this one was written. A member whose own record is
   * older has been set back since: a restored VM, a cloned disk, a disk that lost what it had acknowledged. Absent if unknown.
   */
  readonly durable?: RecordNumber | undefined;
};

export type RecordNumber = Pick<CopyRecord, 'epoch' | 'dataGeneration'>;

export function compareRecords(a: RecordNumber, b: RecordNumber): number {
  return a.epoch - b.epoch || a.dataGeneration - b.dataGeneration;
}

export function highestRecord(records: Iterable<CopyRecord>): CopyRecord | undefined {
  let highest: CopyRecord | undefined;
  for (const record of records) {
    if (highest === undefined || compareRecords(record, highest) > 0) highest = record;
  }
  return highest;
}

export function copyRecord(
  epoch: number,
  dataGeneration: number,
  members: Iterable<ReplicaId>,
  durable?: RecordNumber,
): CopyRecord {
  const sorted = [...new Set(members)].sort(compareIds);
  return durable === undefined
    ? { epoch, dataGeneration, members: sorted }
    : { epoch, dataGeneration, members: sorted, durable };
}

/** Newest record that all members have stored, by the highest records; copies may know of it later than the database. */
export function durableOf(records: Iterable<CopyRecord>): RecordNumber | undefined {
  const all = [...records];
  const highest = highestRecord(all);
  if (highest === undefined) return undefined;
  let newest: RecordNumber | undefined;
  for (const record of all) {
    if (compareRecords(record, highest) !== 0 || record.durable === undefined) continue;
    if (newest === undefined || compareRecords(record.durable, newest) > 0) newest = record.durable;
  }
  return newest;
}

/** True if it is older than a record that its copy is known to have stored. */
export function isSetBack(own: RecordNumber, durable: RecordNumber | undefined): boolean {
  return durable !== undefined && compareRecords(own, durable) < 0;
}

/**
 * May the engine go on with `next` members after `last` without asking Postgres?
 *
 * Only with more than half of the last ones: then no other engine can have found half of the last members at hand. Below that the
 * database has to record the new members first, and I/O waits for it.
 */
export function mayShrinkAlone(last: readonly ReplicaId[], next: readonly ReplicaId[]): boolean {
  // Only those that stay are counted: a copy that joins at the same moment is no witness of the last record.
  const staying = next.filter((member) => last.includes(member));
  return staying.length * 2 > last.length;
}

/** Result of an attach's survey of every reachable copy's record. */
export type CopySurvey = {
  /** The record Postgres holds, if the volume was ever written under one. */
  known: CopyRecord | undefined;
  /** Copies that answered, by replica. */
  found: ReadonlyMap<ReplicaId, CopyRecord>;
  /** True where Postgres was restored from a backup: records that only it and absent copies held may be lost. */
  isRestored?: boolean | undefined;
  /** Left out: each copy is believed, as if it had a node of its own. */
  places?: CopyPlaces | undefined;
};

/** Places of copies, so that one node's word is told from that of two. */
export type CopyPlaces = {
  readonly nodeOf: ReadonlyMap<ReplicaId, NodeId>;
  /** Node of the engine that is to start. It may write to every copy, so doubting its own copies would protect nothing. */
  readonly holderId: NodeId | undefined;
};

export type AttachDecision =
  | {
      kind: 'go';
      record: CopyRecord;
      current: readonly ReplicaId[];
      /** Not named by the record, or set back. */
      stale: readonly ReplicaId[];
      setBack?: readonly ReplicaId[];
    }
  | {
      kind: 'wait';
      code: 'TooFewCopies';
      record: CopyRecord | undefined;
      /** Members that did not answer. */
      missing: readonly ReplicaId[];
      /** Members that answered with an older record than they had stored. */
      setBack?: readonly ReplicaId[];
    }
  | ({ kind: 'wait'; code: 'OneNodesWord' } & OneNodesWord);

/** A record that only copies on one node hold, and that would make copies on other nodes stale. */
export type OneNodesWord = {
  /** Highest record without that node's word. */
  readonly record: CopyRecord;
  readonly claim: CopyRecord;
  readonly claimedBy: readonly ReplicaId[];
  /** Members of the record that would be stale. */
  readonly leftOut: readonly ReplicaId[];
};

/**
 * Decides which copies an engine may believe, or that it must not start without a user's decision.
 *
 * It goes on with at least half of the highest known record's members and no higher record in Postgres; otherwise a user decides.
 * Copies outside that record are stale: they are rebuilt, never read. So is a member whose own record is older than one that it is
 * known to have stored: it lost data, and counts as one that does not answer.
 *
 * After a restore of the database all members have to answer. Any of them may have gone on without the others, with only the lost
 * database to know of it.
 *
 * A record that neither Postgres nor a copy on another node knows makes no copy elsewhere stale
 * (docs/adr/0283-records-of-one-node.md): the node may be in the wrong hands.
 */
export function decideCurrentCopies(survey: CopySurvey): AttachDecision {
  const decision = decideByRecords(survey);
  const word = oneNodesWord(survey, decision);
  if (word === undefined) return decision;
  if (!isRefuted(survey, word)) return { kind: 'wait', code: 'OneNodesWord', ...word };
  // Ends: each round lowers the records of one more node.
  return decideCurrentCopies({ ...survey, found: withoutClaim(survey.found, word) });
}

type DecisionByRecords = Exclude<AttachDecision, { code: 'OneNodesWord' }>;

function decideByRecords({ known, found, isRestored = false }: CopySurvey): DecisionByRecords {
  const onCopies = highestRecord(found.values());
  const highest = highestRecord([...(known ? [known] : []), ...(onCopies ? [onCopies] : [])]);
  if (highest === undefined) return { kind: 'wait', code: 'TooFewCopies', record: undefined, missing: [] };

  const durable = durableOf([...(known ? [known] : []), ...found.values()]);
  const isBack = (member: ReplicaId) => {
    const own = found.get(member);
    return own !== undefined && isSetBack(own, durable);
  };
  const setBack = highest.members.filter(isBack);
  const told = setBack.length === 0 ? {} : { setBack };
  const current = highest.members.filter((member) => found.has(member) && !isBack(member));
  const missing = highest.members.filter((member) => !found.has(member));
  const stale = [...found.keys()].filter((id) => !current.includes(id)).sort(compareIds);
  const isAnyAwaited = isRestored && missing.length > 0;
  if (current.length === 0 || current.length * 2 < highest.members.length || isAnyAwaited) {
    return { kind: 'wait', code: 'TooFewCopies', record: highest, missing, ...told };
  }
  return { kind: 'go', record: highest, current, stale, ...told };
}

/**
 * The first node whose copies alone make members elsewhere stale: without their records these would be current, or be waited for.
 * After a restore the copies are believed: they know what the database has forgotten.
 */
function oneNodesWord(survey: CopySurvey, decision: DecisionByRecords): OneNodesWord | undefined {
  const { found, places, isRestored = false } = survey;
  if (places === undefined || isRestored || decision.record === undefined) return undefined;
  const { nodeOf, holderId } = places;
  for (const nodeId of [...new Set(nodeOf.values())].sort(compareIds)) {
    const claimedBy = [...found.keys()].filter((id) => nodeOf.get(id) === nodeId).sort(compareIds);
    if (nodeId === holderId || claimedBy.length === 0) continue;
    const others = new Map([...found].filter(([id]) => nodeOf.get(id) !== nodeId));
    const without = decideByRecords({ ...survey, found: others });
    if (without.record === undefined) continue;
    const leftOut = without.record.members.filter((member) => {
      // A member without a place is a replica that is gone: leaving it out harms no copy.
      const isElsewhere = nodeOf.has(member) && nodeOf.get(member) !== nodeId;
      return isElsewhere && isGood(without, member) && !isGood(decision, member);
    });
    if (leftOut.length > 0) return { record: without.record, claim: decision.record, claimedBy, leftOut };
  }
  return undefined;
}

function isGood({ record, setBack = [] }: DecisionByRecords, member: ReplicaId): boolean {
  return record?.members.includes(member) === true && !setBack.includes(member);
}

/**
 * True if certainly nothing was acknowledged under the claimed record. An engine acknowledges under a record when all its members
 * have stored it, and one of them, on another node, has not. It must be a member of the record that Postgres holds: one that joined
 * since may hold an old record while the claimed one, and others between, were written without it. The claim's statement about
 * members that were set back concerns an earlier record, which this does not refute.
 */
function isRefuted({ known, found }: CopySurvey, { claim, claimedBy, leftOut }: OneNodesWord): boolean {
  if (leftOut.some((member) => claim.members.includes(member))) return false;
  return claim.members.some((member) => {
    const own = found.get(member);
    if (own === undefined || claimedBy.includes(member) || known?.members.includes(member) !== true)
      return false;
    return compareRecords(own, claim) < 0 && !isSetBack(own, claim.durable);
  });
}

/** The copies of that node count by the records known without them. */
function withoutClaim(
  found: CopySurvey['found'],
  { record, claimedBy }: OneNodesWord,
): Map<ReplicaId, CopyRecord> {
  const { epoch, dataGeneration, members } = record;
  const lowered = copyRecord(epoch, dataGeneration, members);
  return new Map(
    [...found].map(([id, own]) =>
      claimedBy.includes(id) && compareRecords(own, record) >= 0 ? [id, lowered] : [id, own],
    ),
  );
}
