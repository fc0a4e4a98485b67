'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { carryOut, dryRun, type PlannedRequest } from '../api/dry-run';
import { isProblem } from '../api/problem';
import { DryRunSummary } from './dry-run-summary';
import { Loaded } from './loaded';
import { Refusal } from './refusal';
import { useAction } from './use-action';

const TYPING_MS = 400;

export type PlanDialogProps = {
  title: string;
  description: string;
  /** `undefined`: the fields that it is made of have no usable values yet. */
  request: PlannedRequest | undefined;
  /** Inputs of the request; each change of them makes another plan. */
  fields?: ReactNode;
  confirmLabel: string;
  /** Noted once it is done. */
  done: string;
  isDangerous?: boolean;
  /** Of what can't be undone: the name that has to be typed. */
  typedName?: string;
  onClose: () => void;
  onDone?: () => void;
};

/** A change whose dry run is shown first: its effects, or the reason and cures of a refusal. */
export function PlanDialog(props: PlanDialogProps) {
  const { title, description, request, fields, confirmLabel, done, isDangerous = false } = props;
  const { typedName, onClose } = props;
  const [typed, setTyped] = useState('');
  const asked = JSON.stringify(request ?? null);
  const isSettled = useSettled(asked) === asked;
  const plan = useQuery({
    queryKey: ['dry-run', asked],
    queryFn: ({ signal }) =>
      request === undefined ? Promise.reject(new Error('nothing is planned')) : dryRun(request, signal),
    enabled: request !== undefined && isSettled,
    retry: false,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const act = useAction({
    run: () => (request === undefined ? Promise.resolve() : carryOut(request)),
    done: () => done,
    refusal: 'beside',
    stale: 'all',
    onDone: () => {
      onClose();
      props.onDone?.();
    },
  });
  const refused = isProblem(plan.error) && plan.error.status < 500 ? plan.error : undefined;
  const isKnown = request !== undefined && isSettled && plan.data !== undefined;
  const blocked = reasonNot({ isKnown, isRefused: refused !== undefined });
  const untyped = typedName !== undefined && typed !== typedName ? 'Type the name first.' : undefined;
  const nothing = plan.data?.changes === false ? 'Nothing would change.' : undefined;

  function submit(event: FormEvent) {
    event.preventDefault();
    if ((blocked ?? nothing ?? untyped) === undefined) act.mutate();
  }

  return (
    <Dialog open onOpenChange={onClose} title={title} description={description}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        {fields}
        {refused !== undefined && <Refusal problem={refused} />}
        {refused === undefined && request !== undefined && (
          <Loaded query={plan} what="the plan" rows={3}>
            {(data) => <DryRunSummary plan={data} />}
          </Loaded>
        )}
        {typedName !== undefined && refused === undefined && (
          <TextField
            label={`Type ${typedName} to confirm`}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoComplete="off"
          />
        )}
        {act.error !== null && <Refusal problem={act.error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant={isDangerous ? 'danger' : 'primary'}
            busy={act.isPending}
            disabledReason={blocked ?? nothing ?? untyped}
          >
            {confirmLabel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Planned once the user has paused: a plan for every key press would be made, and audited, in vain. */
function useSettled(asked: string): string {
  const [settled, setSettled] = useState(asked);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(asked), TYPING_MS);
    return () => clearTimeout(timer);
  }, [asked]);
  return settled;
}

function reasonNot({ isKnown, isRefused }: { isKnown: boolean; isRefused: boolean }): string | undefined {
  if (isRefused) return 'It is refused, as said above.';
  return isKnown ? undefined : 'Its plan is not known yet.';
}
