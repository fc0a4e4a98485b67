/** Order of cures: which of two is smaller, and which contains the other. */
import { compareIds } from '../../model/ids.js';
import { type CureChange, rankOfChange } from '../framework/cure-change.js';
import { describeChange } from './describe-change.js';

type Changes = readonly CureChange[];

/** Smallest first, each once. A pair is as large as its larger part, then as its smaller one. */
export function smallestFirst(candidates: readonly Changes[]): Changes[] {
  const distinct = new Map(candidates.map((changes) => [JSON.stringify(changes), changes]));
  return [...distinct]
    .map(([key, changes]) => ({
      key,
      changes,
      ranks: changes.map(rankOfChange).sort((a, b) => b - a),
      words: changes.map(describeChange).join(),
    }))
    .sort(
      (a, b) =>
        compareLists(a.ranks, b.ranks) ||
        sizeOf(a.changes) - sizeOf(b.changes) ||
        // By the names that users know, before the ids that they don't.
        compareIds(a.words, b.words) ||
        compareIds(a.key, b.key),
    )
    .map(({ changes }) => changes);
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index];
    if (other !== undefined && value !== other) return value - other;
  }
  return a.length - b.length;
}

/** Within one kind: bytes to move, bytes to buy, points to turn, tags to set. */
function sizeOf(changes: Changes): number {
  return changes.reduce((sum, change) => sum + sizeOfOne(change), 0);
}

function sizeOfOne(change: CureChange): number {
  switch (change.kind) {
    case 'wait-until':
      return new Date(change.at).getTime();
    case 'free-space':
      return change.freeBytes + change.releaseBytes;
    case 'lower-reserve':
      return change.fromBytes - change.toBytes;
    case 'set-setting':
      return Math.abs(Number(change.to) - Number(change.from));
    case 'add-disk':
    case 'add-node':
      return change.bytes;
    case 'tag-node':
    case 'tag-disk':
    case 'remove-selector-tags':
      return change.tags.length;
    default:
      return 0;
  }
}

/** Does `larger` do everything that `smaller` does, and perhaps more? */
export function isWithin(smaller: Changes, larger: Changes): boolean {
  return smaller.every((part) => larger.some((whole) => isPartOf(part, whole)));
}

function isPartOf(part: CureChange, whole: CureChange): boolean {
  if (part.kind === 'set-setting' && whole.kind === 'set-setting')
    return part.setting === whole.setting && sizeOfOne(part) <= sizeOfOne(whole);
  if (part.kind === 'remove-selector-tags' && whole.kind === 'remove-selector-tags')
    return part.selector === whole.selector && part.tags.every((tag) => whole.tags.includes(tag));
  if (part.kind === 'add-node' && whole.kind === 'add-node')
    return part.zone === null && part.bytes <= whole.bytes;
  return JSON.stringify(part) === JSON.stringify(whole);
}
