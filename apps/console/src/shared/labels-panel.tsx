'use client';
import { LABEL_KEY, LABEL_VALUE } from '@holdfast/core/model/labels.js';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { Panel } from '@holdfast/ui/panel.js';
import { X } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { carryOut } from '../api/dry-run';
import type { Labels } from '../api/types';
import { Refusal } from './refusal';
import { useAction } from './use-action';

type Props = {
  /** Their owner, such as `node node-1`. */
  of: string;
  labels: Labels;
  /** The object's address below `/api/v1`. */
  path: string;
  /** Why they can't be changed now. */
  disabledReason: string | undefined;
};

/** Labels of a volume, node or disk, set and taken off one by one. */
export function LabelsPanel({ of, labels, path, disabledReason }: Props) {
  const change = useAction({
    run: (changes: Record<string, string | null>) =>
      carryOut({ method: 'PATCH', path, body: { labels: changes } }),
    done: (_, changes) =>
      Object.entries(changes)
        .map(([key, value]) => `Label ${key} of ${of} is ${value === null ? 'taken off' : 'set'}.`)
        .join(' '),
    refusal: 'beside',
    stale: 'all',
  });
  const entries = Object.entries(labels).map(([key, value]) => [key, String(value)] as const);
  return (
    <Panel title="Labels" hint="To find it by: labels.team=a in a search">
      {entries.length === 0 ? (
        <p className="text-sm text-muted">None yet.</p>
      ) : (
        <ul aria-label={`Labels of ${of}`} className="flex flex-wrap gap-1.5">
          {entries.map(([key, value]) => (
            <li
              key={key}
              className="inline-flex max-w-full items-center gap-1 rounded-md border border-border bg-sunken pl-2 text-xs"
            >
              <span className="truncate font-mono">{value === '' ? key : `${key}=${value}`}</span>
              <Button
                variant="ghost"
                className="h-6 px-1"
                aria-label={`Take label ${key} off`}
                disabledReason={disabledReason}
                onClick={() => change.mutate({ [key]: null })}
              >
                <X aria-hidden size={13} />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <AddLabel
        busy={change.isPending}
        disabledReason={disabledReason}
        onAdd={(key, value) => change.mutate({ [key]: value })}
      />
      {change.error !== null && <Refusal problem={change.error} />}
    </Panel>
  );
}

type AddProps = {
  busy: boolean;
  disabledReason: string | undefined;
  onAdd: (key: string, value: string) => void;
};

function AddLabel({ busy, disabledReason, onAdd }: AddProps) {
  const [text, setText] = useState('');
  const [key = '', value = ''] = text.trim().split(/=(.*)/s);
  const isReadable = LABEL_KEY.test(key) && LABEL_VALUE.test(value);

  function submit(event: FormEvent) {
    event.preventDefault();
    if (!isReadable || disabledReason !== undefined) return;
    onAdd(key, value);
    setText('');
  }

  return (
    <form onSubmit={submit} className="mt-3 flex items-end gap-2">
      <div className="min-w-0 flex-1">
        <TextField
          label="New label"
          placeholder="team=payments"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
          error={text === '' || isReadable ? undefined : 'A key, or key=value, of letters, digits and -_.'}
        />
      </div>
      <Button
        type="submit"
        busy={busy}
        className="mb-1"
        disabledReason={disabledReason ?? (isReadable ? undefined : 'Write key=value first.')}
      >
        Set label
      </Button>
    </form>
  );
}
