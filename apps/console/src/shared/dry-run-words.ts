/** Words for a dry run's result. */
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { fieldWords, valueWords } from '@holdfast/core/policy/changed-fields.js';
import type { DryRun } from '../api/dry-run';

export type ChangedField = { readonly name: string; readonly before: string; readonly after: string };

/**
 * Times and counters that each change moves, ids, and the control plane's own notes: they mean nothing to a user. The plan's notes
 * describe the effects.
 */
const UNTOLD =
  /^(version|generation|epoch|record|conditions|layer_task|attachment|endpoint|attention|forget|id)$|_(at|ids?|marks)$/;

/** Fields of several parts, each in the words of the page that shows it. Others of that kind are the control plane's own. */
const OF_PARTS: Readonly<Record<string, (value: object) => string>> = {
  labels: (value) => valueWords('labels', value),
  limits: (value) => valueWords('limits', value),
  maintenance: (value) =>
    'until' in value && typeof value.until === 'string'
      ? `until ${new Date(value.until).toISOString().slice(0, 16).replace('T', ' ')} UTC`
      : 'yes',
  drain: (value) => ('policy' in value ? `by ${valueWords('policy', value.policy)}` : 'yes'),
};

export function changedFields({ before, after }: Pick<DryRun, 'before' | 'after'>): ChangedField[] {
  if (before === null || after === null) return [];
  return Object.keys(after)
    .filter((name) => !UNTOLD.test(name) && isTold(name, before[name]) && isTold(name, after[name]))
    .map((name) => ({
      name: fieldWords(name),
      before: wordsOf(name, before[name]),
      after: wordsOf(name, after[name]),
    }))
    .filter((field) => field.before !== field.after);
}

function isTold(name: string, value: unknown): boolean {
  const parts: unknown[] = Array.isArray(value) ? value : [value];
  return name in OF_PARTS || parts.every((part) => typeof part !== 'object' || part === null);
}

function wordsOf(name: string, value: unknown): string {
  const ofParts = OF_PARTS[name];
  const isOfParts = typeof value === 'object' && value !== null && !Array.isArray(value);
  return ofParts !== undefined && isOfParts ? ofParts(value) : valueWords(name, value);
}

type CopyCounts = Pick<DryRun, 'copyCount' | 'bytesCopied' | 'bytesRemoved'>;

export function copiesWords({ copyCount, bytesCopied, bytesRemoved }: CopyCounts): string {
  const parts = [
    ...(bytesCopied > 0 ? [`${formatBytes(bytesCopied)} copied`] : []),
    ...(bytesRemoved > 0 ? [`${formatBytes(bytesRemoved)} removed`] : []),
  ];
  const copies = copyCount === 1 ? '1 copy is concerned' : `${copyCount} copies are concerned`;
  return `${copies}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`;
}
