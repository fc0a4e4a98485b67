'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import type { Volume } from '../api/types';
import { NodeName } from '../shared/node-name';

/** A checksum's beginning is enough to see two differ. */
const CHECKSUM_SHOWN = 16;

/** The last proof that all copies hold the same bytes. */
export function VerificationPanel({ volume }: { volume: Volume }) {
  const { verification } = volume;
  if (verification === null) {
    return (
      <Panel title="Verification">
        <p className="text-sm text-muted">
          Never verified. Detach the volume, then Verify reads every copy and compares them.
        </p>
      </Panel>
    );
  }
  const nodeOf = (replicaId: string) =>
    volume.replicas.find((replica) => replica.id === replicaId)?.nodeId ?? null;
  return (
    <Panel title="Verification" aside={<Verdict state={verification.state} equal={verification.equal} />}>
      <p className="text-sm text-muted">
        {verification.message} {verification.finishedAt !== null && <Moment at={verification.finishedAt} />}
      </p>
      <ul className="mt-2 flex flex-col gap-1">
        {verification.replicas.map((replica) => (
          <li key={replica.replicaId} className="flex justify-between gap-2 text-xs">
            <span className="text-muted">
              <NodeName id={nodeOf(replica.replicaId)} />
            </span>
            <code className="font-mono">
              {replica.checksum?.slice(0, CHECKSUM_SHOWN) ?? replica.error ?? ''}
            </code>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Verdict({ state, equal }: { state: 'running' | 'done' | 'failed'; equal: boolean | null }) {
  if (state === 'running') return <Badge tone="busy">Reading</Badge>;
  if (state === 'failed') return <Badge tone="warn">Not finished</Badge>;
  return equal === true ? <Badge tone="good">All equal</Badge> : <Badge tone="bad">Different</Badge>;
}
