'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField } from '@holdfast/ui/field.js';
import { useState } from 'react';
import { useNodes } from '../api/queries';
import type { StorageNode, Volume } from '../api/types';
import { isNodeReady } from '../states';

const ANY_NODE = '';

type Props = {
  open: boolean;
  onOpenChange: () => void;
  volume: Volume;
  busy: boolean;
  onAttach: (nodeId: string | undefined) => void;
};

/** Asks on which node the volume is served. By default Holdfast takes one that holds a copy. */
export function AttachDialog({ open, onOpenChange, volume, busy, onAttach }: Props) {
  const nodes = useNodes();
  const [nodeId, setNodeId] = useState(ANY_NODE);
  const hasCopy = (node: StorageNode) => volume.replicas.some((replica) => replica.nodeId === node.id);
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Attach ${volume.name}`}
      description="The node that serves it over NBD. Reads are nearest where it also holds a copy."
    >
      <SelectField label="Node" value={nodeId} onChange={(event) => setNodeId(event.target.value)}>
        <option value={ANY_NODE}>A node that holds a copy</option>
        {(nodes.data ?? []).map((node) => (
          <option key={node.id} value={node.id} disabled={!isNodeReady(node)}>
            {node.name}
            {hasCopy(node) ? ', holds a copy' : ''}
            {isNodeReady(node) ? '' : ', not ready'}
          </option>
        ))}
      </SelectField>
      <div className="mt-3 flex justify-end gap-2">
        <Button onClick={onOpenChange}>Cancel</Button>
        <Button
          variant="primary"
          busy={busy}
          onClick={() => onAttach(nodeId === ANY_NODE ? undefined : nodeId)}
        >
          Attach
        </Button>
      </div>
    </Dialog>
  );
}
