/**
 * Decides whether a volume may go on with copies that a user names, although fewer than half of the last members answer.
 *
 * Only with copies that the highest known record names: the others are known to be behind. What such a salvage may lose
 * is what copies that do not answer acknowledged without the named ones: they were more than half, so an engine could
 * go on with them alone, and only they would know. The API asks with the last survey, the worker again with a fresh
 * one.
 *
 * What the copies of one node say alone does not count here: a salvage goes on without them. To believe them, a user attaches the
 * volume on that node.
 */
import {
  type CopyRecord,
  compareRecords,
  durableOf,
  highestRecord,
  isSetBack,
  type RecordNumber,
} from '../model/copy-record.js';
import { compareIds, type ReplicaId } from '../model/ids.js';
import type { CopiesSurvey, SurveyedCopy } from '../model/salvage.js';
import type { Volume } from '../model/volume.js';
import { type Refusal, refuse } from './decision.js';

/** An attach found fewer than half of the last members (`decide-start.ts`). */
export const COPIES_MISSING = 'CopiesMissing';

type Surveyed = { readonly survey: CopiesSurvey | undefined };
type SalvageVolume = Pick<Volume, 'name' | 'record' | 'attention'> & Surveyed;

export type CopyAdvice = {
  readonly replicaId: ReplicaId;
  /**
   * `usable`: it may be named. `stale`: the highest record leaves it out, or it says alone that others are stale. `unfilled`: it
   * was never a full copy. `missing`: it does not answer. `unasked`: no start of an engine has asked the copies.
   */
  readonly verdict: 'usable' | 'stale' | 'unfilled' | 'missing' | 'unasked';
  readonly copy: SurveyedCopy | undefined;
};

export type SalvageAdvice = {
  /** The highest record of Postgres and the copies that answer; `undefined` when none is known at all. */
  readonly highest: CopyRecord | undefined;
  /** The best first: usable ones by record, equal before unequal, then the fullest. */
  readonly ranking: readonly CopyAdvice[];
  readonly best: readonly ReplicaId[];
};

export function adviseSalvage(
  { record, survey }: Pick<Volume, 'record'> & Surveyed,
  replicaIds: readonly ReplicaId[],
): SalvageAdvice {
  const copies = new Map((survey?.copies ?? []).map((copy) => [copy.replicaId, copy]));
  const claimedBy = survey?.claimedBy ?? [];
  const records = [...copies.values()].flatMap(({ replicaId, record: own }) =>
    own === undefined || claimedBy.includes(replicaId) ? [] : [own],
  );
  const all = record === undefined ? records : [record, ...records];
  const highest = highestRecord(all);
  const verdictIn = (replicaId: ReplicaId, copy: SurveyedCopy | undefined) => {
    if (survey === undefined) return 'unasked';
    return claimedBy.includes(replicaId) ? 'stale' : verdictOn(replicaId, copy, highest);
  };
  const ranking = replicaIds
    .map((replicaId): CopyAdvice => {
      const copy = copies.get(replicaId);
      const verdict = verdictIn(replicaId, copy);
      return { replicaId, copy, verdict };
    })
    .sort(compareAdvice);
  const usable = ranking.filter(({ verdict }) => verdict === 'usable');
  const left = withoutSetBack(usable, durableOf(all));
  const best = left.map(({ replicaId }) => replicaId);
  return { highest, best, ranking: ranking.map((one) => behindOthers(one, best)).sort(compareAdvice) };
}

/**
 * Copies that were set back lack what the others have, and are not equal to each other, whatever their marks say. Where no
 * other one answers, the one with the newest record may be named.
 */
function withoutSetBack(
  usable: readonly CopyAdvice[],
  durable: RecordNumber | undefined,
): readonly CopyAdvice[] {
  const kept = usable.filter(({ copy }) => copy?.record !== undefined && !isSetBack(copy.record, durable));
  return kept.length > 0 ? kept : usable.slice(0, 1);
}

function behindOthers(advice: CopyAdvice, best: readonly ReplicaId[]): CopyAdvice {
  const isBehind = advice.verdict === 'usable' && !best.includes(advice.replicaId);
  return isBehind ? { ...advice, verdict: 'stale' } : advice;
}

function verdictOn(
  replicaId: ReplicaId,
  copy: SurveyedCopy | undefined,
  highest: CopyRecord | undefined,
): CopyAdvice['verdict'] {
  if (copy === undefined) return 'missing';
  if (copy.record === undefined) return 'unfilled';
  return highest?.members.includes(replicaId) === true ? 'usable' : 'stale';
}

const VERDICTS: readonly CopyAdvice['verdict'][] = ['usable', 'stale', 'unfilled', 'missing', 'unasked'];

function compareAdvice(a: CopyAdvice, b: CopyAdvice): number {
  const byVerdict = VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict);
  if (byVerdict !== 0) return byVerdict;
  const [x, y] = [a.copy, b.copy];
  const byRecord =
    x?.record !== undefined && y?.record !== undefined ? compareRecords(y.record, x.record) : 0;
  return (
    byRecord ||
    Number(y?.isClean ?? false) - Number(x?.isClean ?? false) ||
    (y?.writtenBytes ?? 0) - (x?.writtenBytes ?? 0) ||
    compareIds(a.replicaId, b.replicaId)
  );
}

export type SalvageDecision =
  | { readonly kind: 'allow'; readonly replicaIds: readonly ReplicaId[] }
  | Refusal<'volume.not_faulted' | 'volume.record_higher' | 'volume.copies_missing' | 'replica.not_found'>;

/** @param named the copies to go on with; empty: all that may be named */
export function decideSalvage(
  volume: SalvageVolume,
  replicaIds: readonly ReplicaId[],
  named: readonly ReplicaId[],
): SalvageDecision {
  if (volume.attention?.code !== COPIES_MISSING || volume.survey === undefined) {
    return refuse('volume.not_faulted', `volume ${volume.name} does not wait for missing copies`, [
      volume.attention?.code === 'HolderUnreachable'
        ? 'detach it by force and attach it on a node that answers: the attach asks the copies, and says where too few answer'
        : 'attach it: where too few copies answer it says so',
    ]);
  }
  const stranger = named.find((id) => !replicaIds.includes(id));
  if (stranger !== undefined) {
    return refuse('replica.not_found', `volume ${volume.name} has no replica ${stranger}`, [
      'choose some of its replicas',
    ]);
  }
  const advice = adviseSalvage(volume, replicaIds);
  const chosen = named.length === 0 ? advice.best : named;
  if (chosen.length === 0) return nothingUsable(advice);
  for (const { replicaId, verdict } of advice.ranking) {
    if (!chosen.includes(replicaId) || verdict === 'usable') continue;
    return verdict === 'missing' ? noAnswer(replicaId) : behind(replicaId, advice.highest);
  }
  return { kind: 'allow', replicaIds: [...new Set(chosen)].sort(compareIds) };
}

function nothingUsable({ highest }: SalvageAdvice): SalvageDecision {
  return refuse(
    'volume.record_higher',
    `no copy that answers is one of the last members (${textOf(highest)})`,
    ['start the agents of the missing copies'],
  );
}

function noAnswer(replicaId: ReplicaId): SalvageDecision {
  return refuse('volume.copies_missing', `replica ${replicaId} does not answer`, [
    'start its agent',
    'name copies that answer',
  ]);
}

function behind(replicaId: ReplicaId, highest: CopyRecord | undefined): SalvageDecision {
  return refuse(
    'volume.record_higher',
    `a record is known that leaves replica ${replicaId} out (${textOf(highest)}): it misses writes`,
    ['name copies that are in that record', 'start the agents of the missing copies'],
  );
}

function textOf(record: CopyRecord | undefined): string {
  return record === undefined
    ? 'no record is known'
    : `epoch ${record.epoch}, generation ${record.dataGeneration}`;
}

/** In words for the event and for the user who decides. */
export function salvageRisk(
  advice: SalvageAdvice,
  chosen: readonly ReplicaId[],
  survey: CopiesSurvey,
): string {
  const absent = (advice.highest?.members ?? []).filter((id) => !chosen.includes(id));
  const isUnequal = survey.copies.some(({ replicaId, isClean }) => chosen.includes(replicaId) && !isClean);
  const claimed = survey.claimedBy === undefined ? '' : '; so is what one node alone says that it holds';
  const lost = `writes that ${absent.length} other ${absent.length === 1 ? 'member' : 'members'} acknowledged without ${chosen.length === 1 ? 'this copy' : 'these copies'} are lost`;
  const inFlight = isUnequal ? '; writes in flight when it stopped may be there in part' : '';
  return `${lost}${claimed}${inFlight}`;
}
