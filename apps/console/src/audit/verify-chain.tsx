'use client';
import { Button } from '@holdfast/ui/button.js';
import { Panel } from '@holdfast/ui/panel.js';
import { ShieldCheck, ShieldX } from 'lucide-react';
import { api } from '../api/client';
import { useAction } from '../shared/use-action';

/** The API checks so many entries at a time; a log of more than this many rounds is checked by the CLI. */
const ROUNDS_MAX = 50;

type Verdict = { readonly checked: number; readonly brokenAt: number | undefined; readonly isWhole: boolean };

/** Computes the hashes of the whole chain anew, and says where it does not hold. */
export function VerifyChain() {
  const verify = useAction({ run: verifyAll, done: 'shown', refusal: 'beside', stale: [] });
  return (
    <Panel
      title="Does the log hold?"
      aside={
        <Button busy={verify.isPending} onClick={() => verify.mutate()}>
          Verify
        </Button>
      }
    >
      {verify.data === undefined ? (
        <p className="text-sm text-muted">
          {verify.isError
            ? 'There was no answer. Verify again.'
            : 'Each entry holds a hash of the one before. Verify computes them all anew.'}
        </p>
      ) : (
        <Answer verdict={verify.data} />
      )}
    </Panel>
  );
}

function Answer({ verdict: { checked, brokenAt, isWhole } }: { verdict: Verdict }) {
  const isBroken = brokenAt !== undefined;
  const Icon = isBroken ? ShieldX : ShieldCheck;
  return (
    <p role="status" className="flex items-center gap-2 text-sm">
      <Icon aria-hidden size={18} className={isBroken ? 'text-bad' : 'text-good'} />
      {isBroken
        ? `Place ${brokenAt} of the chain does not hold: an entry was changed or is gone.`
        : `${checked.toLocaleString('en')} entries hold${isWhole ? '' : ', and there are more: the CLI checks them all'}.`}
    </p>
  );
}

async function verifyAll(): Promise<Verdict> {
  let checked = 0;
  let after: number | undefined;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const part = await api.verifyAudit(after);
    checked += part.checked;
    if (part.broken !== null) return { checked, brokenAt: part.broken.sequence, isWhole: false };
    if (part.nextAfter === null) return { checked, brokenAt: undefined, isWhole: true };
    after = part.nextAfter;
  }
  return { checked, brokenAt: undefined, isWhole: false };
}
