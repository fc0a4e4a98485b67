'use client';
import { decideGone } from '@holdfast/core/policy/decide-forget.js';
import { Button } from '@holdfast/ui/button.js';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { reasonOf } from '../actions';
import type { PlannedRequest } from '../api/dry-run';
import type { StorageNode } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { paths } from '../paths';
import { AddDiskButton } from '../shared/disk-dialogs';
import { CopyNodeAs, NodeButtons } from '../shared/node-buttons';
import { PlanDialog } from '../shared/plan-dialog';
import { ForgetDialog } from './forget-dialog';
import { NodeSpecDialog } from './node-spec-dialog';

type Asked = 'evict' | 'delete' | 'forget' | 'spec';

/** All that can be done with a node, each with its plan first where it moves or removes copies. */
export function NodeActions({ node }: { node: StorageNode }) {
  const cluster = useCluster();
  const router = useRouter();
  const forbidden = useForbidden()('node:write');
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  const path = `/clusters/${cluster.id}/nodes/${node.id}`;
  return (
    <>
      <Button disabledReason={forbidden} onClick={() => setAsked('spec')}>
        Change…
      </Button>
      <AddDiskButton node={node} />
      <NodeButtons node={node} />
      <Button disabledReason={forbidden} onClick={() => setAsked('evict')}>
        {node.evictionRequested ? 'End eviction…' : 'Evict copies…'}
      </Button>
      <Button
        variant="danger"
        disabledReason={forbidden ?? forgetReason(node)}
        onClick={() => setAsked('forget')}
      >
        Forget…
      </Button>
      <Button variant="danger" disabledReason={forbidden} onClick={() => setAsked('delete')}>
        Delete…
      </Button>
      <CopyNodeAs node={node} />
      {asked === 'spec' && <NodeSpecDialog node={node} path={path} onClose={close} />}
      {asked === 'evict' && <EvictDialog node={node} path={path} onClose={close} />}
      {asked === 'forget' && <ForgetDialog node={node} path={path} onClose={close} />}
      {asked === 'delete' && (
        <PlanDialog
          title={`Delete ${node.name}?`}
          description="The cluster forgets the node with its disks. Its data stays on the machine."
          request={{ method: 'DELETE', path }}
          confirmLabel="Delete node"
          done={`${node.name} is deleted.`}
          isDangerous
          typedName={node.name}
          onClose={close}
          onDone={() => router.replace(paths.nodes)}
        />
      )}
    </>
  );
}

/** Why the node can't be forgotten now, by the rule of the API; `undefined`: it can. */
function forgetReason(node: StorageNode): string | undefined {
  if (node.forget !== null) return 'It is being forgotten, and leaves the list when no volume refers to it.';
  return reasonOf(decideGone(node));
}

function EvictDialog({ node, path, onClose }: { node: StorageNode; path: string; onClose: () => void }) {
  const isOn = node.evictionRequested;
  const request: PlannedRequest = {
    method: 'PATCH',
    path,
    body: { allowScheduling: isOn, evictionRequested: !isOn },
  };
  return (
    <PlanDialog
      title={isOn ? `End the eviction of ${node.name}` : `Evict the copies of ${node.name}`}
      description={
        isOn
          ? 'Copies that are still on it stay, and new ones may come.'
          : 'Each copy on it is built elsewhere first, then removed here. No new one comes meanwhile.'
      }
      request={request}
      confirmLabel={isOn ? 'End eviction' : 'Evict copies'}
      done={isOn ? `${node.name} keeps its copies.` : `${node.name} is being emptied.`}
      onClose={onClose}
    />
  );
}
