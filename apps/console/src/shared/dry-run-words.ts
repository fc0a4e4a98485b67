/** Words for what a dry run tells. */
import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { DryRun } from '../api/dry-run';

export type ChangedField = { readonly name: string; readonly before: string; readonly after: string };

/**
 * Times and counters that each change moves, and what the control plane notes for itself: they tell a user nothing. What comes of
 * it is told in the plan's notes.
 */
const UNTOLD = /^(version|generation|conditions|layer_task|attachment|endpoint|attention)$|_at$/;

export function changedFields({ before, after }: Pick<DryRun, 'before' | 'after'>): ChangedField[] {
  if (before === null || after === null) return [];
  return Object.keys(after)
    .filter((name) => !UNTOLD.test(name))
    .map((name) => ({
      name: fieldWords(name),
      before: valueWords(before[name]),
      after: valueWords(after[name]),
    }))
    .filter((field) => field.before !== field.after);
}

/** `eviction_requested`, as dry runs name fields, as `eviction requested`. */
function fieldWords(name: string): string {
  return name.replaceAll('_', ' ');
}

function valueWords(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueWords).join(', ');
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value);
  return entries.length === 0 ? 'none' : entries.map(([key, one]) => `${key}=${valueWords(one)}`).join(', ');
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
