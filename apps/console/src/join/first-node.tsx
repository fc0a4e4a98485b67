'use client';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { HardDrive, Plus } from 'lucide-react';
import { useState } from 'react';
import { useZones } from '../api/node-queries';
import { useForbidden } from '../api/use-access';
import { AddNodeDialog } from './add-node';

/** First step of a cluster without nodes. Nothing once there is one, except the dialog that has waited for it. */
export function FirstNode() {
  const zones = useZones().data;
  const [isAsked, setAsked] = useState(false);
  const forbidden = useForbidden()('node:write');
  const hasNodes = zones === undefined || zones.some(({ nodes }) => nodes.total > 0);
  return (
    <>
      {!hasNodes && (
        <Panel title="First steps" className="mb-4">
          <Message
            icon={HardDrive}
            title="This cluster has no node yet"
            body="Volumes are kept on the disks of nodes, each copy on another one. Add a node in each of three zones, then create a volume."
            action={
              <Button variant="primary" disabledReason={forbidden} onClick={() => setAsked(true)}>
                <Plus aria-hidden size={15} /> Add node…
              </Button>
            }
          />
        </Panel>
      )}
      {isAsked && <AddNodeDialog onClose={() => setAsked(false)} />}
    </>
  );
}
