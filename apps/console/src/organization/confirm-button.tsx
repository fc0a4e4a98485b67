'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { useState } from 'react';
import { Refusal } from '../shared/refusal';
import { useAction } from '../shared/use-action';
import { ORGANIZATION_KEYS } from './use-refresh';

type Props = {
  /** Text of the button, also in the dialog. */
  label: string;
  /** For screen readers, where several rows have the same button. */
  of: string;
  question: string;
  consequence: string;
  done: string;
  disabledReason: string | undefined;
  run: () => Promise<unknown>;
  onDone?: () => void;
};

/** A button that ends something for good, and first says what that means. */
export function ConfirmButton(props: Props) {
  const { label, of, question, consequence, done, disabledReason, run, onDone } = props;
  const [isAsked, setAsked] = useState(false);
  const act = useAction({
    run,
    done: () => done,
    refusal: 'beside',
    stale: ORGANIZATION_KEYS,
    onDone: () => {
      setAsked(false);
      onDone?.();
    },
  });
  return (
    <>
      <Button
        variant="ghost"
        aria-label={`${label} ${of}`}
        disabledReason={disabledReason}
        onClick={() => setAsked(true)}
      >
        {label}…
      </Button>
      <Dialog open={isAsked} onOpenChange={setAsked} title={question} description={consequence}>
        {act.error !== null && <Refusal problem={act.error} />}
        <div className="mt-3 flex justify-end gap-2">
          <Button onClick={() => setAsked(false)}>Cancel</Button>
          <Button variant="danger" busy={act.isPending} onClick={() => act.mutate()}>
            {label}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
