'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import type { Rebuild } from '../api/types';
import { REBUILD_METHOD } from '../states';

/** Transfer of each snapshot to the copy, with the reason: what a rebuild did not have to send matters as much as what it did. */
export function RebuildSnapshots({ rebuild }: { rebuild: Rebuild }) {
  const { snapshots } = rebuild;
  if (snapshots.length === 0) return null;
  return (
    <details className="text-xs">
      <summary className="inline-flex min-h-6 cursor-pointer items-center text-muted hover:underline">
        {summary(rebuild)}
      </summary>
      <ul className="mt-1 flex flex-col gap-1.5 border-l-2 border-border pl-3">
        {snapshots.map(({ name, method, reason, bytesSent }) => (
          <li key={name} className="flex flex-col">
            <span className="flex items-baseline justify-between gap-2">
              <code className="min-w-0 truncate font-mono" title={name}>
                {name}
              </code>
              <span className="flex shrink-0 items-baseline gap-2 tabular-nums">
                {formatBytes(bytesSent)}
                <Badge tone={REBUILD_METHOD[method].tone} quiet>
                  {REBUILD_METHOD[method].word}
                </Badge>
              </span>
            </span>
            <span className="text-muted">{reason}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function summary({ snapshots }: Rebuild): string {
  const counts = new Map<string, number>();
  for (const { method } of snapshots) counts.set(method, (counts.get(method) ?? 0) + 1);
  const parts = [...counts].map(([method, count]) => `${count} ${method}`);
  return `${snapshots.length === 1 ? '1 snapshot' : `${snapshots.length} snapshots`}: ${parts.join(', ')}`;
}
