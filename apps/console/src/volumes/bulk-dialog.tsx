'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { type FormEvent, useEffect, useState } from 'react';
import type { BulkResult } from '../api/bulk-calls';
import { useCluster } from '../api/use-cluster';
import { noteDone } from '../shared/notes';
import { type BulkItem, runEach, summaryOf } from './bulk';
import type { BulkAction } from './bulk-action-table';

type Props = { action: BulkAction; items: readonly BulkItem[]; onClose: () => void; onDone: () => void };
type Results = ReadonlyMap<string, BulkResult>;

/** An action on several volumes: its input, its dry run for each, then the result for each. */
export function BulkDialog({ action, items: selected, onClose, onDone }: Props) {
  const { id: clusterId } = useCluster();
  // The action may delete volumes that are selected behind the dialog.
  const [items] = useState(selected);
  const [input, setInput] = useState(action.input?.initial ?? '');
  const [plan, setPlan] = useState<Results>();
  const [done, setDone] = useState<Results>();
  const [isBusy, setBusy] = useState(false);
  const problem = action.problemOf?.(input);
  const possible = items.filter(({ id }) => plan?.get(id)?.kind === 'ok');
  const [typed, setTyped] = useState('');
  const word = action.isDestructive ? wordFor(possible) : undefined;
  const isTyped = word === undefined || typed === word;

  async function run(of: readonly BulkItem[], isDry: boolean): Promise<Results> {
    const results = new Map<string, BulkResult>();
    const show = isDry ? setPlan : setDone;
    setBusy(true);
    await runEach(
      of,
      ({ id: volumeId }) => action.call({ clusterId, volumeId }, { isDry }, input),
      (id, result) => {
        results.set(id, result);
        show(new Map(results));
      },
    );
    setBusy(false);
    return results;
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: what needs no input is tried at once, and once
  useEffect(() => {
    if (action.input === undefined) void run(items, true);
  }, []);

  async function act() {
    const results = await run(possible, false);
    noteDone(`${action.label}: ${summaryOf([...results.values()], 'done')}.`);
  }

  return (
    <Dialog
      open
      onOpenChange={() => {
        onClose();
        if (done !== undefined) onDone();
      }}
      title={`${action.label}: ${items.length === 1 ? '1 volume' : `${items.length} volumes`}`}
      description={`These volumes ${action.does}`}
    >
      {action.input !== undefined && done === undefined && (
        <InputForm
          input={action.input}
          value={input}
          problem={problem}
          busy={isBusy}
          onChange={(value) => {
            setInput(value);
            setPlan(undefined);
          }}
          onTry={() => void run(items, true)}
        />
      )}
      <ResultList items={items} results={done ?? plan} isDone={done !== undefined} />
      {word !== undefined && done === undefined && !isBusy && (
        <div className="mt-3">
          <TextField
            label={`Type ${word} to confirm`}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoComplete="off"
          />
        </div>
      )}
      <div className="mt-4 flex items-center justify-end gap-2">
        <p role="status" className="mr-auto text-sm text-muted">
          {done !== undefined
            ? summaryOf([...done.values()], 'done')
            : plan !== undefined && summaryOf([...plan.values()], 'can be done')}
        </p>
        <Button
          onClick={() => {
            onClose();
            if (done !== undefined) onDone();
          }}
        >
          {done === undefined ? 'Cancel' : 'Close'}
        </Button>
        {done === undefined && (
          <Button
            variant={action.isDestructive ? 'danger' : 'primary'}
            busy={isBusy}
            disabledReason={reasonNot({ isTried: plan !== undefined, possible, isTyped, word })}
            onClick={() => void act()}
          >
            {action.label} {possible.length > 0 && `(${possible.length})`}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

type Step = {
  isTried: boolean;
  possible: readonly BulkItem[];
  isTyped: boolean;
  word: string | undefined;
};

function reasonNot({ isTried, possible, isTyped, word }: Step): string | undefined {
  if (!isTried) return 'Try it first';
  if (possible.length === 0) return 'None can be done';
  return isTyped ? undefined : `Type ${word} first`;
}

type InputProps = {
  input: NonNullable<BulkAction['input']>;
  value: string;
  problem: string | undefined;
  busy: boolean;
  onChange: (value: string) => void;
  onTry: () => void;
};

/** Input of the action, and the button that tries it. */
function InputForm({ input, value, problem, busy, onChange, onTry }: InputProps) {
  function submit(event: FormEvent) {
    event.preventDefault();
    if (problem === undefined) onTry();
  }
  return (
    <form onSubmit={submit} className="mb-3 flex items-end gap-2">
      <div className="flex-1">
        <TextField
          label={input.label}
          hint={input.hint}
          value={value}
          autoFocus
          onChange={(event) => onChange(event.target.value)}
        />
      </div>
      <Button type="submit" disabledReason={problem} busy={busy} className="mb-5">
        Try
      </Button>
    </form>
  );
}

/** Text to type before data goes for good: the volume's name, or the number of volumes. */
function wordFor(items: readonly BulkItem[]): string | undefined {
  const [only] = items;
  return items.length === 1 ? only?.name : items.length === 0 ? undefined : String(items.length);
}

type ListProps = { items: readonly BulkItem[]; results: Results | undefined; isDone: boolean };

function ResultList({ items, results, isDone }: ListProps) {
  return (
    <ul
      aria-label="Result of each volume"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls has to be reached by the keyboard
      tabIndex={0}
      className="max-h-72 divide-y divide-border overflow-y-auto rounded-md border border-border text-sm"
    >
      {items.map(({ id, name }) => {
        const result = results?.get(id);
        return (
          <li key={id} className="flex min-h-8 items-center gap-3 px-3 py-1">
            <span className="w-40 shrink-0 truncate font-medium" title={name}>
              {name}
            </span>
            {result?.kind === 'ok' && (
              <Badge tone={isDone ? 'good' : 'busy'} quiet>
                {result.note}
              </Badge>
            )}
            {result?.kind === 'refused' && <span className="text-xs text-bad">{result.why}</span>}
            {result === undefined && results !== undefined && <span className="text-xs text-muted">…</span>}
          </li>
        );
      })}
    </ul>
  );
}
