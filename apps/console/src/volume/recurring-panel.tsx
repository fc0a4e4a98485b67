'use client';
import { decideChange } from '@holdfast/core/policy/decide-change.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import { CalendarClock, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { reasonOf } from '../actions';
import { api } from '../api/client';
import { keys } from '../api/queries';
import type { RecurringSnapshot, Volume } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { useAction } from '../shared/use-action';
import { RecurringDialog } from './recurring-dialog';
import { useActionFacts } from './use-action-facts';

type Editing = { kind: 'new' } | { kind: 'change'; one: RecurringSnapshot };

/** The volume's schedules of snapshots: when they are due, and what became of the last time. */
export function RecurringPanel({ volume }: { volume: Volume }) {
  const cluster = useCluster();
  const [editing, setEditing] = useState<Editing>();
  const remove = useAction({
    run: (name: string) => api.deleteRecurring(cluster.id, volume.id, name),
    done: (_, name) => `Schedule ${name} has ended. Its snapshots stay.`,
    refusal: 'noted',
    stale: [keys.volume(cluster.id, volume.id)],
  });
  const changing = reasonOf(decideChange(useActionFacts(volume)));
  const blocked = useForbidden(volume.projectId)('volume:write') ?? changing;

  return (
    <Panel
      title="Recurring snapshots"
      hint="Taken while the volume is attached"
      flush
      aside={
        <Button
          aria-label="Add schedule"
          disabledReason={blocked}
          onClick={() => setEditing({ kind: 'new' })}
        >
          Add
        </Button>
      }
    >
      {volume.recurringSnapshots.length === 0 ? (
        <Message
          icon={CalendarClock}
          title="No schedule yet"
          body="With one, Holdfast takes snapshots, and deletes the oldest of them."
        />
      ) : (
        <ul>
          {volume.recurringSnapshots.map((one) => (
            <li
              key={one.name}
              className="flex items-center gap-2 border-b border-border px-4 py-2 last:border-0"
            >
              <Schedule one={one} />
              <Button
                variant="ghost"
                aria-label={`Change ${one.name}`}
                disabledReason={blocked}
                onClick={() => setEditing({ kind: 'change', one })}
              >
                <Pencil aria-hidden size={15} />
              </Button>
              <Button
                variant="ghost"
                aria-label={`End ${one.name}; its snapshots stay`}
                disabledReason={blocked}
                onClick={() => remove.mutate(one.name)}
              >
                <Trash2 aria-hidden size={15} />
              </Button>
            </li>
          ))}
        </ul>
      )}
      {editing !== undefined && (
        <RecurringDialog
          volume={volume}
          known={editing.kind === 'change' ? editing.one : undefined}
          onDone={() => setEditing(undefined)}
        />
      )}
    </Panel>
  );
}

function Schedule({ one }: { one: RecurringSnapshot }) {
  const { name, cron, retain, nextRunAt, lastRun } = one;
  return (
    <div className="min-w-0 flex-1">
      <p className="flex min-w-0 flex-wrap items-center gap-2 text-sm">
        <span className="truncate font-medium">{name}</span>
        <code className="font-mono text-xs text-muted">{cron}</code>
        {lastRun?.outcome === 'skipped' && (
          <Badge tone="warn" quiet>
            Skipped
          </Badge>
        )}
      </p>
      <p className="text-xs text-muted">
        Keeps {retain} · next <Moment at={nextRunAt} coming />
        {lastRun !== null && (
          <>
            {' · last '}
            <Moment at={lastRun.at} />
          </>
        )}
      </p>
      {lastRun?.outcome === 'skipped' && <p className="text-xs text-muted">{lastRun.message}</p>}
    </div>
  );
}
