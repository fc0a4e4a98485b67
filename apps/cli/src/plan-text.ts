import type { Schema } from '@holdfast/api-client/client.js';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { Column } from './output/table.js';

export type Plan = Schema<'DryRun'>;

export const COPY_COLUMNS: Column<Plan['copies'][number]>[] = [
  { header: 'copy', cell: ({ replicaId }) => replicaId ?? 'a new one' },
  { header: 'of', cell: ({ volumeName }) => volumeName },
  { header: 'would be', cell: ({ effect }) => effect },
  { header: 'bytes', cell: ({ bytes }) => formatBytes(bytes), align: 'right' },
  { header: 'node', cell: ({ nodeId }) => nodeId ?? '-', wide: true },
  { header: 'disk', cell: ({ diskId }) => diskId ?? '-', wide: true },
];

/** Text of a dry run, beside its table of copies. */
export function planLines(plan: Plan): string[] {
  if (!plan.changes) return ['nothing would change: it is so already'];
  const names = [...new Set([...Object.keys(plan.before ?? {}), ...Object.keys(plan.after ?? {})])];
  return [
    ...names.map((name) => `${name}: ${valueText(plan.before?.[name])} → ${valueText(plan.after?.[name])}`),
    ...(plan.bytesRemoved === 0 ? [] : [`${formatBytes(plan.bytesRemoved)} of data would be removed`]),
    ...(plan.bytesCopied === 0 ? [] : [`${formatBytes(plan.bytesCopied)} would have to be copied`]),
    ...plan.events.map(({ message }) => `event: ${message}`),
    ...plan.notes,
  ];
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
