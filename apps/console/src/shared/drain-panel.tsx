'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField } from '@holdfast/ui/field.js';
import { Meter } from '@holdfast/ui/meter.js';
import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { useState } from 'react';
import { api } from '../api/client';
import type { DrainPlan, DrainWait, NodeDrain, StorageNode } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { sentence } from '../sentence';
import { drainSentence, POLICY_WORDS, planSentences } from './drain-words';
import { Loaded } from './loaded';
import { Refusal } from './refusal';
import { useNodeChange } from './use-node-change';

type Policy = NodeDrain['policy'];
const POLICIES = Object.keys(POLICY_WORDS).filter((key): key is Policy => key in POLICY_WORDS);
/** Volumes that a dialog names; the numbers above them are of all. */
const WAITS_SHOWN = 5;

/** Progress of the node's drain, and its reasons for waiting. Nothing without a drain. */
export function DrainNote({ node: { name, drain } }: { node: StorageNode }) {
  if (drain === null) return null;
  const { progress, waitingFor, state } = drain;
  const { replicasToMove, replicasMoved } = progress;
  return (
    <section
      aria-label={`Drain of ${name}`}
      className={clsx(
        'px-4 py-2 text-sm',
        state === 'drained' ? 'bg-good-soft text-good' : 'bg-warn-soft text-warn',
      )}
    >
      <p>{drainSentence(drain)}</p>
      {replicasToMove > 0 && (
        <Meter
          label={`Copies moved off ${name}`}
          percent={(100 * replicasMoved) / replicasToMove}
          text={`${replicasMoved} of ${replicasToMove}`}
          className="mt-1 max-w-80"
        />
      )}
      <Waits waits={waitingFor} />
    </section>
  );
}

function Waits({ waits }: { waits: readonly DrainWait[] }) {
  if (waits.length === 0) return null;
  return (
    <ul className="mt-1 list-disc pl-5 text-xs">
      {waits.slice(0, WAITS_SHOWN).map(({ volumeId, replicaId, reason, message, cures }) => (
        <li key={`${volumeId} ${replicaId} ${reason}`}>
          {sentence(message)}
          {cures[0] !== undefined && <span className="block text-muted">{sentence(cures[0])}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Drains the node, once its plan has been seen; or ends its drain. */
export function DrainButton({ node }: { node: StorageNode }) {
  const cluster = useCluster();
  const [isAsked, setAsked] = useState(false);
  const forbidden = useForbidden()('node:write');
  const cancel = useNodeChange({
    run: () => api.actOnNode(cluster.id, node.id, 'cancel-drain'),
    done: `The drain of ${node.name} has ended.`,
    refusal: 'noted',
  });
  if (node.drain !== null) {
    return (
      <Button disabledReason={forbidden} busy={cancel.isPending} onClick={() => cancel.mutate()}>
        {node.drain.state === 'drained' ? 'End drain' : 'Cancel drain'}
      </Button>
    );
  }
  return (
    <>
      <Button disabledReason={forbidden} onClick={() => setAsked(true)}>
        Drain…
      </Button>
      {isAsked && <DrainDialog node={node} onClose={() => setAsked(false)} />}
    </>
  );
}

function DrainDialog({ node, onClose }: { node: StorageNode; onClose: () => void }) {
  const cluster = useCluster();
  const [chosen, setChosen] = useState<Policy>();
  const plan = useQuery({
    queryKey: ['nodes', cluster.id, node.id, 'drain-plan', chosen ?? ''],
    queryFn: () => api.planDrain(cluster.id, node.id, chosen === undefined ? {} : { policy: chosen }),
  });
  const drain = useNodeChange({
    run: (policy: Policy) => api.drainNode(cluster.id, node.id, { policy }),
    done: `${node.name} is being drained.`,
    refusal: 'beside',
    onDone: onClose,
  });
  const policy = chosen ?? plan.data?.policy;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Drain ${node.name}`}
      description="It gets no new copies, and reports when it may be switched off."
    >
      <div className="flex flex-col gap-3">
        <SelectField
          label="It may be switched off"
          value={policy ?? ''}
          onChange={(event) => setChosen(POLICIES.find((one) => one === event.target.value))}
        >
          {POLICIES.map((one) => (
            <option key={one} value={one}>
              {POLICY_WORDS[one]}
            </option>
          ))}
        </SelectField>
        <Loaded query={plan} what="the plan" rows={4}>
          {(data) => <Plan plan={data} />}
        </Loaded>
        {drain.error !== null && <Refusal problem={drain.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            busy={drain.isPending}
            disabledReason={policy === undefined ? 'Its plan is not known yet.' : undefined}
            onClick={() => policy !== undefined && drain.mutate(policy)}
          >
            Drain
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Plan({ plan }: { plan: DrainPlan }) {
  const blockers = plan.volumes.flatMap((volume) => volume.blockers);
  return (
    <section aria-label="Plan" className="text-sm text-text">
      {planSentences(plan).map((text) => (
        <p key={text}>{text}</p>
      ))}
      {blockers.length > 0 && (
        <div className="mt-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
          <p className="font-medium">It will wait until you have done something about these:</p>
          <Waits waits={blockers} />
          {blockers.length > WAITS_SHOWN && (
            <p className="text-xs">and {blockers.length - WAITS_SHOWN} more</p>
          )}
        </div>
      )}
    </section>
  );
}
