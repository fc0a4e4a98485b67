'use client';
import { decideAttach } from '@holdfast/core/policy/decide-attach.js';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { useState } from 'react';
import { reasonOf } from '../actions';
import { useSomeNodes } from '../api/node-queries';
import { useSilentNodes } from '../api/silent-nodes';
import type { Volume } from '../api/types';
import { nodeSearch } from '../shared/node-search';
import { Refusal } from '../shared/refusal';
import { useActionFacts } from './use-action-facts';

const ANY_NODE = '';
/** Nodes that are offered beside those with a copy: a search finds the others. */
const OFFERED_MAX = 50;

type Props = {
  open: boolean;
  onOpenChange: () => void;
  volume: Volume;
  busy: boolean;
  /** Why the last try was refused; null for none. */
  problem: unknown;
  onAttach: (nodeId: string | undefined) => void;
};

/** Dialog for the node that serves the volume. By default Holdfast chooses one that holds a copy. */
export function AttachDialog({ open, onOpenChange, volume, busy, problem, onAttach }: Props) {
  const [nodeId, setNodeId] = useState(ANY_NODE);
  const [text, search] = useState('');
  const found = useSomeNodes({ filter: nodeSearch(text), limit: OFFERED_MAX, enabled: open }).data ?? [];
  const facts = useActionFacts(volume, found);
  const silent = useSilentNodes();
  const hasCopy = (id: string) => volume.replicas.some((replica) => replica.nodeId === id);
  const reasonAgainst = (id: string) => reasonOf(decideAttach(facts, id));
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Attach ${volume.name}`}
      description="The node that serves it over NBD. Reads are nearest where it also holds a copy."
    >
      {(text !== '' || found.length === OFFERED_MAX) && (
        <TextField
          label="Find a node"
          hint="Beginning of its name, zone or tag"
          value={text}
          onChange={(event) => search(event.target.value)}
        />
      )}
      <SelectField label="Node" value={nodeId} onChange={(event) => setNodeId(event.target.value)}>
        <option value={ANY_NODE}>A node that holds a copy</option>
        {facts.nodes.map(({ id, name, isReady }) => (
          <option key={id} value={id} disabled={reasonAgainst(id) !== undefined} title={reasonAgainst(id)}>
            {name}
            {hasCopy(id) ? ', holds a copy' : ''}
            {!isReady && ', not ready'}
            {isReady && silent.has(id) && ', no answer'}
          </option>
        ))}
      </SelectField>
      {problem !== null && <Refusal problem={problem} />}
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
