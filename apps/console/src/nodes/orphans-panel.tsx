'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { decideOrphanRemoval } from '@holdfast/core/policy/decide-orphan-removal.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import { useState } from 'react';
import { reasonOf } from '../actions';
import { useOrphans } from '../api/queries';
import type { Orphan, Recovery } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { CopyQuestionAs } from '../shared/copy-question';
import { Loaded } from '../shared/loaded';
import { PlanDialog } from '../shared/plan-dialog';
import { useLostVolumes } from '../shared/use-lost-volumes';

/** Copies on disks that belong to no replica, and the way to give their space back. */
export function OrphansPanel() {
  const orphans = useOrphans();
  const [asked, setAsked] = useState<Orphan>();
  const forbidden = useForbidden()('node:write');
  const columns: Column<Orphan>[] = [
    ...COLUMNS,
    {
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: (orphan) => (
        <Button disabledReason={forbidden ?? removalReason(orphan)} onClick={() => setAsked(orphan)}>
          Remove
        </Button>
      ),
    },
  ];
  return (
    <Panel
      title="Orphans"
      hint="Copies on disks that belong to no replica"
      flush
      aside={<CopyQuestionAs of="the orphans" question={{ path: '/clusters/{clusterId}/orphans' }} isList />}
    >
      <Loaded query={orphans} what="the orphans" rows={2}>
        {(data) => (
          <Table
            label="Orphans"
            rows={data}
            columns={columns}
            rowKey={({ id }) => id}
            empty={<Message title="No orphans" body="Every copy on every disk belongs to a replica." />}
          />
        )}
      </Loaded>
      {asked !== undefined && <RemoveDialog orphan={asked} onClose={() => setAsked(undefined)} />}
    </Panel>
  );
}

const COLUMNS: Column<Orphan>[] = [
  { header: 'Node', cell: ({ nodeName }) => <span className="font-medium">{nodeName}</span> },
  { header: 'Disk', cell: ({ diskName }) => diskName },
  {
    header: 'Of volume',
    cell: ({ volumeName, volumeId }) => volumeName ?? <span title={volumeId}>One that is gone</span>,
  },
  { header: 'Size', align: 'right', cell: ({ size }) => formatBytes(size) },
  { header: 'Seen since', cell: ({ firstSeenAt }) => <Moment at={firstSeenAt} /> },
  { header: 'State', cell: (orphan) => <OrphanBadge orphan={orphan} /> },
];

function OrphanBadge({ orphan }: { orphan: Orphan }) {
  if (orphan.error !== null) {
    return (
      <span title={orphan.error}>
        <Badge tone="bad" quiet>
          Not removed yet
        </Badge>
      </span>
    );
  }
  const { tone, word } = LOOK[orphan.state];
  return (
    <Badge tone={orphan.isReachable ? tone : 'idle'} quiet>
      {orphan.isReachable ? word : 'Out of reach'}
    </Badge>
  );
}

const LOOK = {
  found: { tone: 'warn', word: 'Unused' },
  removing: { tone: 'busy', word: 'Being removed' },
} satisfies Record<Orphan['state'], { tone: 'warn' | 'busy'; word: string }>;

function removalReason(orphan: Orphan): string | undefined {
  return reasonOf(decideOrphanRemoval({ ...orphan, isRemovalRequested: orphan.state === 'removing' }));
}

/** Effect of removing a copy on its volume, which the database does not know. */
function wordsOfLost(lost: Recovery | undefined): string {
  if (lost === undefined) return 'Its volume is gone.';
  return lost.obstacle?.code === 'Deleted'
    ? `Its volume ${lost.name} was deleted: without this copy it can perhaps not be had back.`
    : `The lost volume ${lost.name} may be recovered from it: without this copy perhaps no longer.`;
}

function RemoveDialog({ orphan, onClose }: { orphan: Orphan; onClose: () => void }) {
  const cluster = useCluster();
  const { diskName, nodeName, size, volumeName } = orphan;
  const lost = useLostVolumes().data?.find(({ volumeId }) => volumeId === orphan.volumeId);
  const whose =
    volumeName === null
      ? wordsOfLost(lost)
      : `Volume ${volumeName} still exists: make sure that it does not need this copy.`;
  return (
    <PlanDialog
      title={`Remove the copy on ${nodeName}?`}
      description={`${formatBytes(size)} on disk ${diskName} are removed for good. ${whose}`}
      request={{ method: 'DELETE', path: `/clusters/${cluster.id}/orphans/${orphan.id}` }}
      confirmLabel="Remove copy"
      done={`The copy on ${nodeName}, ${diskName} is being removed.`}
      isDangerous
      onClose={onClose}
    />
  );
}
