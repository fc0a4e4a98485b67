'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { Moment } from '@holdfast/ui/moment.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import type { Tone } from '@holdfast/ui/tone.js';
import { useState } from 'react';
import { useSalvageAdvice } from '../api/queries';
import type { SalvageAdvice, Volume } from '../api/types';
import { sentence } from '../sentence';
import { Loaded } from '../shared/loaded';
import { Refusal } from '../shared/refusal';

type Copy = SalvageAdvice['copies'][number];
type Props = {
  onClose: () => void;
  volume: Volume;
  busy: boolean;
  /** Why the last try was refused; null for none. */
  problem: unknown;
  onSalvage: (replicaIds: string[]) => void;
};

const VERDICT = {
  usable: { tone: 'good', word: 'Usable' },
  stale: { tone: 'bad', word: 'Misses writes' },
  unfilled: { tone: 'idle', word: 'Never full' },
  missing: { tone: 'idle', word: 'No answer' },
  unasked: { tone: 'idle', word: 'Not asked' },
} satisfies Record<Copy['verdict'], { tone: Tone; word: string }>;

const COLUMNS: Column<Copy>[] = [
  { header: 'Node', className: 'whitespace-nowrap', cell: ({ nodeName }) => nodeName },
  {
    header: 'Copy',
    cell: ({ verdict, isUnequal }) => (
      <Badge tone={isUnequal ? 'warn' : VERDICT[verdict].tone} quiet>
        {isUnequal ? `${VERDICT[verdict].word}, last moments in part` : VERDICT[verdict].word}
      </Badge>
    ),
  },
  {
    header: 'Record',
    cell: ({ record }) => (record === null ? '–' : `${record.epoch}.${record.dataGeneration}`),
  },
  { header: 'Written', align: 'right', cell: ({ writtenBytes }) => formatBytes(writtenBytes) },
  {
    header: 'Heard',
    className: 'whitespace-nowrap',
    cell: ({ lastHeardAt }) => (lastHeardAt === null ? '–' : <Moment at={lastHeardAt} />),
  },
];

/** Going on with too few copies: the existing ones, and the loss with each. */
export function SalvageDialog({ onClose, volume, busy, problem, onSalvage }: Props) {
  const advice = useSalvageAdvice(volume.id);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const columns: Column<Copy>[] = [
    {
      header: 'Use',
      cell: ({ replicaId, verdict, nodeName }) => (
        <input
          type="checkbox"
          className="size-6 accent-accent"
          aria-label={`Use the copy on ${nodeName}`}
          disabled={verdict !== 'usable'}
          checked={verdict === 'usable' && !left.has(replicaId)}
          onChange={() => setLeft(toggled(left, replicaId))}
        />
      ),
    },
    ...COLUMNS,
  ];
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Salvage ${volume.name}?`}
      description="Only when the missing copies are gone for good: if they return, they are rebuilt, and data that only they held is lost."
    >
      <Loaded query={advice} what="the copies" rows={3}>
        {(data) => {
          const chosen = data.copies
            .filter(({ isAdvised, replicaId }) => isAdvised && !left.has(replicaId))
            .map(({ replicaId }) => replicaId);
          return (
            <div className="flex flex-col gap-3">
              <div className="overflow-x-auto">
                <Table
                  label="Copies"
                  rows={data.copies}
                  columns={columns}
                  rowKey={({ replicaId }) => replicaId}
                  empty={<p className="text-sm text-muted">It has no copies.</p>}
                />
              </div>
              <p className="text-sm">{data.isPossible ? `At stake: ${data.risk}.` : data.reason}</p>
              {problem !== null && <Refusal problem={problem} />}
              <div className="flex justify-end gap-2">
                <Button onClick={onClose}>Cancel</Button>
                <Button
                  variant="danger"
                  busy={busy}
                  disabledReason={blockOf(data, chosen)}
                  onClick={() => onSalvage(chosen)}
                >
                  Go on with {chosen.length === 1 ? 'this copy' : 'these copies'}
                </Button>
              </div>
            </div>
          );
        }}
      </Loaded>
    </Dialog>
  );
}

function blockOf(
  { isPossible, reason, requestedAt }: SalvageAdvice,
  chosen: readonly string[],
): string | undefined {
  if (!isPossible) return sentence(reason ?? '');
  if (requestedAt !== null) return 'It is being salvaged';
  return chosen.length === 0 ? 'Choose a copy' : undefined;
}

function toggled(set: ReadonlySet<string>, item: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}
