'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { Table } from '@holdfast/ui/table.js';
import { CircleCheck, OctagonAlert, TriangleAlert } from 'lucide-react';
import type { FormEvent } from 'react';
import type { Zone } from '../api/types';
import { useAllowed, useForbidden } from '../api/use-access';
import { Loaded } from '../shared/loaded';
import { useRoomAfter, useRoomNow } from './use-room';
import {
  type CapacityTone,
  countWords,
  type Kind,
  type Room,
  type RoomAfter,
  toneOf,
  verdictOf,
} from './verdict';

const ICON = { good: CircleCheck, warn: TriangleAlert, bad: OctagonAlert };
const TEXT: Record<CapacityTone, string> = { good: 'text-good', warn: 'text-warn', bad: 'text-bad' };

type Props = {
  zones: readonly Zone[];
  kind: Kind;
  /** The fields of the form, as they are in the page's address. */
  onAsk: (form: FormData) => void;
};

/** Answers: how many more volumes fit, and how many once a zone is lost? By the scheduler itself. */
export function VerdictPanel({ zones, kind, onAsk }: Props) {
  const forbidden = useForbidden()('placement:simulate');
  const isAllowed = useAllowed()('placement:simulate');
  const names = [...new Set(zones.flatMap(({ zone }) => (zone === null ? [] : [zone])))].sort();
  const now = useRoomNow(kind, isAllowed);
  const after = useRoomAfter(kind, names, isAllowed);
  if (forbidden !== undefined) {
    return (
      <Panel title="How much more fits?">
        <Message title="You may not ask what-ifs" body={forbidden} />
      </Panel>
    );
  }
  return (
    <Panel title="How much more fits?" hint="By the scheduler, with every rule and limit" flush>
      <KindForm key={`${kind.sizeBytes} ${kind.numberOfReplicas}`} kind={kind} onAsk={onAsk} />
      <Loaded query={now} what="the answer" rows={2}>
        {(room) => <Verdict kind={kind} now={room} after={after} />}
      </Loaded>
    </Panel>
  );
}

function KindForm({ kind, onAsk }: Pick<Props, 'kind' | 'onAsk'>) {
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    onAsk(new FormData(event.currentTarget));
  }
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-3 border-b border-border px-4 py-3">
      <div className="w-32">
        <TextField
          label="GiB each"
          name="sizeGib"
          type="number"
          min="0.001"
          step="any"
          required
          defaultValue={String(kind.sizeBytes / 2 ** 30)}
        />
      </div>
      <div className="w-24">
        <TextField
          label="Copies"
          name="replicas"
          type="number"
          min={1}
          required
          defaultValue={String(kind.numberOfReplicas)}
        />
      </div>
      <Button type="submit" className="mb-1">
        Ask
      </Button>
    </form>
  );
}

function Verdict({ kind, now, after }: { kind: Kind; now: Room; after: readonly RoomAfter[] }) {
  const tone = toneOf(now, after);
  const Icon = ICON[tone];
  return (
    <>
      <div role="status" className="flex items-center gap-3 border-b border-border p-4">
        <Icon aria-hidden size={30} className={`shrink-0 ${TEXT[tone]}`} />
        <div>
          <p className="text-base font-semibold first-letter:uppercase">{verdictOf(kind, now, after)}</p>
          {now.limitedBy !== null && (
            <p className="text-sm text-muted">What stops the next: {now.limitedBy}</p>
          )}
        </div>
      </div>
      <Table
        label="Room after a loss"
        rows={after}
        rowKey={({ zone }) => zone}
        empty={
          <p className="p-4 text-sm text-muted">
            No node has a zone label: what a loss leaves can't be told by zones.
          </p>
        }
        columns={[
          { header: 'Without zone', cell: ({ zone }) => zone },
          {
            header: `More of ${formatBytes(kind.sizeBytes)} × ${kind.numberOfReplicas}`,
            align: 'right',
            cell: ({ room }) => (room === undefined ? '…' : countWords(room)),
          },
          {
            header: 'What stops the next',
            className: 'py-1.5',
            cell: ({ room }) => <span className="text-muted">{room?.limitedBy ?? ''}</span>,
          },
        ]}
      />
    </>
  );
}
