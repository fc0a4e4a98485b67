'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import { useState } from 'react';
import { RECOVERIES_LIMIT } from '../api/client';
import type { Recovery } from '../api/types';
import { sentence } from '../sentence';
import { CopyQuestionAs } from '../shared/copy-question';
import { Loaded } from '../shared/loaded';
import { useLostVolumes } from '../shared/use-lost-volumes';
import { RecoverDialog } from './recover-dialog';
import { blockOf, verdictWords } from './recovery-words';

/** No pages of them: once the first ones are recovered, the next ones are shown. */
const RECOVERIES = {
  path: '/clusters/{clusterId}/recoveries',
  query: { limit: String(RECOVERIES_LIMIT) },
};

/** Volumes that the database has lost, and the way to make them again. Where nothing is lost there is no such panel. */
export function LostVolumesPanel() {
  const lost = useLostVolumes();
  const [asked, setAsked] = useState<Recovery>();
  const isShown = lost.isError || (lost.data?.length ?? 0) > 0 || asked !== undefined;
  if (!isShown) return null;
  const columns: Column<Recovery>[] = [
    ...COLUMNS,
    {
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: (item) => (
        <Button
          aria-label={`Recover ${item.name}`}
          disabledReason={blockOf(item)?.cure}
          onClick={() => setAsked(item)}
        >
          Recover…
        </Button>
      ),
    },
  ];
  return (
    <Panel
      title="Lost volumes"
      hint="Found on the disks and unknown to the database, as after its loss"
      flush
      aside={<CopyQuestionAs of="the lost volumes" question={RECOVERIES} />}
    >
      <Loaded query={lost} what="the lost volumes" rows={2}>
        {(data) => (
          <Table
            label="Lost volumes"
            rows={data}
            columns={columns}
            rowKey={({ volumeId }) => volumeId}
            empty={<Message title="Nothing is lost" body="The database knows every volume of every copy." />}
          />
        )}
      </Loaded>
      {asked !== undefined && <RecoverDialog item={asked} onClose={() => setAsked(undefined)} />}
    </Panel>
  );
}

const COLUMNS: Column<Recovery>[] = [
  {
    header: 'Volume',
    cell: ({ name, volumeId }) => (
      <span className="font-medium" title={volumeId}>
        {name}
      </span>
    ),
  },
  { header: 'Size', align: 'right', cell: ({ size }) => (size === null ? '–' : formatBytes(size)) },
  { header: 'Copies', align: 'right', cell: copiesWords },
  {
    header: 'Found on',
    cell: ({ copies }) => (
      <ul>
        {copies.map((copy) => (
          <li key={copy.replicaId}>
            {copy.nodeName}, {copy.diskName}: {verdictWords(copy)}
          </li>
        ))}
      </ul>
    ),
  },
  { header: 'What then', cell: (item) => <Outcome item={item} /> },
];

function copiesWords({ copies, numberOfReplicas }: Recovery): string {
  const current = copies.filter(({ verdict }) => verdict === 'current').length;
  return numberOfReplicas === null ? `${current}` : `${current} of ${numberOfReplicas}`;
}

function Outcome({ item }: { item: Recovery }) {
  const { obstacle, isKnown } = item;
  if (obstacle === null) {
    return (
      <Badge tone="good" quiet>
        {isKnown ? 'Gets these copies back' : 'Can be made again'}
      </Badge>
    );
  }
  const block = blockOf(item);
  return (
    <div className="flex max-w-md flex-col gap-1">
      <span>
        <Badge tone={block === undefined ? 'warn' : 'bad'} quiet>
          {block === undefined ? 'Needs your word' : 'Waits'}
        </Badge>
      </span>
      <span className="text-xs text-muted">{sentence(obstacle.why)}</span>
      {block !== undefined && <span className="text-xs">{block.cure}</span>}
    </div>
  );
}
