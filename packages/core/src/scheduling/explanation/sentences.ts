import { formatBytes } from '../../model/bytes.js';
import { wordsOf } from '../filters/rules.js';
import type { TierName } from '../framework/framework.js';
import { describeChange } from './describe-change.js';
import type { FilterReport, NamedPlace, PlacementExplanation } from './explanation.js';
import { tierInWords } from './filter-pipeline.js';
import { placeInWords } from './named-place.js';

type Asked = PlacementExplanation['asked'];

function refusedInWords(asked: Asked, { reasons, rejections }: FilterReport): string[] {
  return reasons.map(({ reason, count }) => {
    const facts = wordsOf(reason);
    const words = `${count} ${facts.refused[count === 1 ? 0 : 1]}`;
    const closest = rejections.find((rejection) => rejection.reason === reason);
    const detail = facts.detail?.(asked, closest?.numbers ?? null);
    return detail === undefined ? words : `${words} (${detail})`;
  });
}

export function sentenceOfPlaced(place: NamedPlace, tier: TierName | null, candidates: number): string {
  const tierWords = tier === null ? '' : `, ${tierInWords(tier)}`;
  const choice = candidates === 1 ? 'the only disk that fits there' : `the best of ${candidates} disks there`;
  return `A replica would go to ${placeInWords(place)}${tierWords}; it is ${choice}.`;
}

export function sentenceOfUnplaced({
  asked,
  filters,
  cures,
  cureSearch,
}: Pick<PlacementExplanation, 'asked' | 'filters' | 'cures' | 'cureSearch'>): string {
  const refused = filters.flatMap((report) => refusedInWords(asked, report));
  const why = refused.length === 0 ? 'the cluster has no node' : refused.join(', ');
  const refusal = `No disk can take this replica of ${formatBytes(asked.sizeBytes)}: ${why}`;
  const [smallest] = cures;
  if (smallest !== undefined)
    return `${refusal}; the smallest cure is to ${smallest.changes.map(describeChange).join(' and to ')}.`;
  return cureSearch.tried === 0 ? `${refusal}.` : `${refusal}; no small change would help.`;
}
