'use client';
import { Button } from '@holdfast/ui/button.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { Moment } from '@holdfast/ui/moment.js';
import { useMemo, useState } from 'react';
import { api } from '../api/client';
import type { StorageNode } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { CopyAs } from './copy-as';
import { copyForms } from './copy-forms';
import { DrainButton } from './drain-panel';
import { PlanDialog } from './plan-dialog';
import { useNodeChange } from './use-node-change';

const HOUR_MS = 3_600_000;
/** Shorter than what the API takes at most, since this machine's clock may be ahead of its. */
const LENGTHS = [
  { hours: 1, word: 'One hour' },
  { hours: 4, word: 'Four hours' },
  { hours: 24, word: 'A day' },
  { hours: 72, word: 'Three days' },
] as const;

/** Says that the node's window is open, until when and why. */
export function MaintenanceNote({ node: { maintenance } }: { node: StorageNode }) {
  if (maintenance === null) return null;
  return (
    <p className="bg-warn-soft px-4 py-2 text-sm text-warn">
      In maintenance, which ends <Moment at={maintenance.until} coming />
      {maintenance.reason === '' ? '.' : `: ${maintenance.reason}.`} No new copies are built for those on it,
      except of volumes down to their last copy.
    </p>
  );
}

/** Actions on a node. Each button leads to the state that the node is not in. */
export function NodeButtons({ node }: { node: StorageNode }) {
  const cluster = useCluster();
  const [asked, setAsked] = useState<'maintenance' | 'uncordon' | 'end-maintenance'>();
  const close = () => setAsked(undefined);
  const forbidden = useForbidden()('node:write');
  const act = useNodeChange({
    run: () => api.actOnNode(cluster.id, node.id, 'cordon'),
    done: `${node.name} takes no new copies.`,
    refusal: 'noted',
  });
  return (
    <>
      <Button
        disabledReason={forbidden}
        busy={act.isPending}
        onClick={() => (node.cordoned ? setAsked('uncordon') : act.mutate())}
      >
        {node.cordoned ? 'Uncordon…' : 'Cordon'}
      </Button>
      <DrainButton node={node} />
      {node.maintenance === null ? (
        <Button disabledReason={forbidden} onClick={() => setAsked('maintenance')}>
          Maintenance…
        </Button>
      ) : (
        <Button disabledReason={forbidden} onClick={() => setAsked('end-maintenance')}>
          End maintenance…
        </Button>
      )}
      {asked === 'maintenance' && <MaintenanceDialog node={node} onClose={close} />}
      {asked === 'uncordon' && (
        <PlanDialog
          title={`Uncordon ${node.name}`}
          description="New copies may be placed on it again. A drain of it ends."
          request={{ method: 'POST', path: `/clusters/${cluster.id}/nodes/${node.id}/uncordon`, body: {} }}
          confirmLabel="Uncordon"
          done={`${node.name} takes new copies again.`}
          onClose={close}
        />
      )}
      {asked === 'end-maintenance' && (
        <PlanDialog
          title={`End the maintenance of ${node.name}`}
          description="The window closes before its time."
          request={{
            method: 'POST',
            path: `/clusters/${cluster.id}/nodes/${node.id}/end-maintenance`,
            body: {},
          }}
          confirmLabel="End maintenance"
          done={`The maintenance of ${node.name} is over.`}
          onClose={close}
        />
      )}
    </>
  );
}

/** Other forms of the node: by the CLI and by curl, and as JSON. */
export function CopyNodeAs({ node }: { node: StorageNode }) {
  const cluster = useCluster();
  return (
    <CopyAs
      forms={copyForms({
        cli: ['node', 'get', node.name],
        path: `/api/v1/clusters/${cluster.id}/nodes/${node.id}`,
        value: node,
      })}
    />
  );
}

/** How long, and why; below that what its volumes lack meanwhile. */
function MaintenanceDialog({ node, onClose }: { node: StorageNode; onClose: () => void }) {
  const cluster = useCluster();
  const [hours, setHours] = useState<number>(LENGTHS[0].hours);
  const [reason, setReason] = useState('');
  // Reckoned when the length is chosen: an end that moved on would be another plan each time.
  const until = useMemo(() => new Date(Date.now() + hours * HOUR_MS).toISOString(), [hours]);
  return (
    <PlanDialog
      title={`Maintenance of ${node.name}`}
      description="Until it ends, no new copies are built for those on this node, and none is placed on it. Volumes down to their last copy are rebuilt all the same. It can be ended before its time."
      request={{
        method: 'POST',
        path: `/clusters/${cluster.id}/nodes/${node.id}/maintenance`,
        body: { until, reason },
      }}
      fields={
        <>
          <SelectField label="For" value={hours} onChange={(event) => setHours(Number(event.target.value))}>
            {LENGTHS.map((length) => (
              <option key={length.hours} value={length.hours}>
                {length.word}
              </option>
            ))}
          </SelectField>
          <TextField
            label="Reason"
            hint="Shown wherever the window is. May be empty."
            maxLength={200}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </>
      }
      confirmLabel="Start maintenance"
      done={`The maintenance of ${node.name} has begun.`}
      onClose={onClose}
    />
  );
}
