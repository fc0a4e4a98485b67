'use client';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useMutation } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { api, type WhatIf } from '../../../src/api/client';
import { useNodes } from '../../../src/api/queries';
import { useCluster } from '../../../src/api/use-cluster';
import { Loaded } from '../../../src/shared/loaded';
import { PageHeader } from '../../../src/shared/page-header';
import { WhatIfForm } from '../../../src/what-if/what-if-form';
import { WhatIfResult } from '../../../src/what-if/what-if-result';

/** What would fit, and what would become of the volumes there are. Changes nothing. */
export default function WhatIfPage() {
  const cluster = useCluster();
  const nodes = useNodes();
  const simulate = useMutation({ mutationFn: (request: WhatIf) => api.simulate(cluster.id, request) });
  return (
    <>
      <title>What if · Holdfast</title>
      <PageHeader
        title="What if"
        subtitle="Tried on a copy of the cluster with the scheduler itself. Nothing changes."
      />
      <div className="grid items-start gap-4 xl:grid-cols-3">
        <Panel title="What should happen">
          <Loaded query={nodes} what="the nodes">
            {(data) => (
              <WhatIfForm
                nodes={data}
                error={simulate.error}
                busy={simulate.isPending}
                onSubmit={simulate.mutate}
              />
            )}
          </Loaded>
        </Panel>
        <div className="xl:col-span-2" aria-live="polite">
          {simulate.data === undefined ? (
            <Panel title="Answer">
              <Message
                icon={FlaskConical}
                title="Nothing asked yet"
                body="Choose new volumes, nodes and zones to lose, or disks to add, and see what fits where."
              />
            </Panel>
          ) : (
            <WhatIfResult result={simulate.data} />
          )}
        </div>
      </div>
    </>
  );
}
