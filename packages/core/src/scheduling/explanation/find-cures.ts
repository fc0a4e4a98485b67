/**
 * Finds the smallest changes that give a replica a place, and runs the scheduler with each before it is told.
 *
 * Only disks that are one change (else two) from being a place are considered, and of each kind of change only the
 * smallest few, so that the search is as short on thousands of disks as on ten.
 */
import type { DiskId } from '../../model/ids.js';
import { isPotentiallyReusable } from '../../model/replica.js';
import type { CureChange } from '../framework/cure-change.js';
import type { PlacementCycle } from '../framework/framework.js';
import { placeHeldUntil, returnFacts } from '../framework/occupancy.js';
import { decidePlacement } from '../placement/place-replica.js';
import { isWithin, smallestFirst } from './cure-size.js';
import { curedCopies, missingCopies } from './cured-copies.js';
import { describeChange } from './describe-change.js';
import { CURES_SHOWN_MAX, CURES_TRIED_MAX, type Cure, type CuredPlace } from './explanation.js';
import { hardwareChanges } from './hardware-cures.js';
import { placeInWords } from './named-place.js';
import { type ObstructedDisk, obstructedDisks } from './obstacles.js';
import {
  cycleOf,
  NEW_DISK_ID,
  NEW_NODE_ID,
  type PlacementQuestion,
  withChanges,
} from './placement-question.js';

/** Of each kind: the smallest, and a few more to choose from. */
const TRIED_PER_KIND_MAX = 4;
/** Kinds of pairs are many, and another disk is no other advice. */
const PAIRS_PER_KIND_MAX = 2;

export type CureSearch = {
  readonly cures: readonly Cure[];
  readonly tried: number;
  readonly isComplete: boolean;
};

type Changes = readonly CureChange[];

/** @param question one in which the replica fits nowhere */
export function findCures(question: PlacementQuestion): CureSearch {
  const cycle = cycleOf(question);
  const search = new Search(question);
  const obstructed = obstructedDisks(question, cycle);
  search.tryAll([...waits(question), ...singles(obstructed)], TRIED_PER_KIND_MAX);
  // Two changes to what is there are less than new hardware, and more than one.
  if (search.cures.length === 0) search.tryAll(pairs(obstructed), PAIRS_PER_KIND_MAX);
  const hardware = hardwareChanges(question, cycle).map((change) => [change]);
  search.tryAll(hardware, TRIED_PER_KIND_MAX);
  return search.result();
}

class Search {
  readonly cures: Cure[] = [];
  private tried = 0;
  private isComplete = true;

  constructor(private readonly question: PlacementQuestion) {}

  /** @param perKindMax how many of one kind are tried */
  tryAll(candidates: readonly Changes[], perKindMax: number): void {
    const triedOfKind = new Map<string, number>();
    for (const changes of smallestFirst(candidates)) {
      const kind = kindOf(changes);
      // What contains a cure already found is no further advice.
      if (this.cures.some((cure) => isWithin(cure.changes, changes))) continue;
      const ofKind = triedOfKind.get(kind) ?? 0;
      if (ofKind >= perKindMax || this.tried >= CURES_TRIED_MAX) {
        this.isComplete = false;
        continue;
      }
      triedOfKind.set(kind, ofKind + 1);
      const cure = this.try(changes);
      if (cure !== undefined) this.cures.push(cure);
    }
  }

  result(): CureSearch {
    const { cures, tried, isComplete } = this;
    return {
      cures: cures.slice(0, CURES_SHOWN_MAX).map((cure) => this.withCopies(cure)),
      tried,
      isComplete,
    };
  }

  /** Says for how many copies it is enough, where several have no place. */
  private withCopies(cure: Cure): Cure {
    const missing = missingCopies(this.question);
    if (missing === 1) return cure;
    const cured = curedCopies(withChanges(this.question, cure.changes));
    const enough = cured < missing ? `${cured} of ${missing}` : missing === 2 ? 'both' : `all ${missing}`;
    return { ...cure, sentence: `${cure.sentence} That is enough for ${enough} copies without a place.` };
  }

  private try(changes: Changes): Cure | undefined {
    this.tried += 1;
    const changed = withChanges(this.question, changes);
    const cycle = cycleOf(changed);
    const decision = decidePlacement(cycle);
    if (decision.kind === 'none') return undefined;
    const leadsTo = { ...curedPlace(cycle, decision.diskId, decision.tier), ...anyZone(changes) };
    const whatToDo = changes.map(describeChange).join(', and ');
    const sentence = `${capitalized(whatToDo)}: the replica then goes to ${placeInWords(leadsTo)}.`;
    return { sentence, changes, leadsTo };
  }
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A new node that may be anywhere has been tried in one zone, which is not the advice. */
function anyZone(changes: Changes): Partial<CuredPlace> {
  return changes.some((change) => change.kind === 'add-node' && change.zone === null) ? { zone: null } : {};
}

function curedPlace(cycle: PlacementCycle, diskId: DiskId, tier: CuredPlace['tier']): CuredPlace {
  const disk = cycle.fleet.disks.find(({ id }) => id === diskId);
  const node = disk === undefined ? undefined : cycle.nodesById.get(disk.nodeId);
  return {
    nodeId: node === undefined || node.id === NEW_NODE_ID ? null : node.id,
    nodeName: node?.name ?? '',
    zone: node?.zone ?? null,
    diskId: diskId === NEW_DISK_ID ? null : diskId,
    diskName: disk?.name ?? '',
    tier,
  };
}

/** When each failed replica that still holds its place gives it up. A volume has few replicas, so these are few. */
function waits({ replicas, fleet, now }: PlacementQuestion): Changes[] {
  const facts = returnFacts(replicas, fleet);
  return replicas.filter(isPotentiallyReusable).flatMap((replica): Changes[] => {
    const until = placeHeldUntil(replica, facts);
    if (until === undefined || until.getTime() <= now.getTime()) return [];
    return [[{ kind: 'wait-until', at: until.toISOString(), replicaId: replica.id }]];
  });
}

function singles(obstructed: readonly ObstructedDisk[]): Changes[] {
  return obstructed
    .filter(({ obstacles }) => obstacles.length === 1)
    .flatMap(({ obstacles }) => obstacles[0]?.cures.map((change) => [change]) ?? []);
}

/** Only disks with exactly two obstacles: with three, a pair can't be enough. */
function pairs(obstructed: readonly ObstructedDisk[]): Changes[] {
  return obstructed.flatMap(({ obstacles }) => {
    const [first, second, third] = obstacles;
    if (first === undefined || second === undefined || third !== undefined) return [];
    return first.cures.flatMap((a) => second.cures.map((b): Changes => [a, b]));
  });
}

function kindOf(changes: Changes): string {
  return changes
    .map((change) => (change.kind === 'set-setting' ? `${change.kind} ${change.setting}` : change.kind))
    .join(' + ');
}
