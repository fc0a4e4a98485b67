'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import Link from 'next/link';
import { COPIES_SORT, copiesIn, type Place, useDisksOf, useVolumesIn } from '../api/node-queries';
import { useSilentNodes } from '../api/silent-nodes';
import type { Replica, Volume } from '../api/types';
import { paths } from '../paths';
import { replicaLook } from '../states';
import { CopyQuestionAs } from './copy-question';
import { Paged } from './paged';
import { RobustnessBadge } from './volume-badges';

type Copy = { readonly volume: Volume; readonly replica: Replica };

/** Copies on a node or a disk, by pages; those of volumes that need attention first. */
export function CopiesPanel({ place, total }: { place: Place; total: number | undefined }) {
  const volumes = useVolumesIn(place);
  const silent = useSilentNodes();
  const disks = useDisksOf(place.kind === 'node' ? [place.id] : []);
  const diskName = (id: string | null) => disks.data?.find((disk) => disk.id === id)?.name ?? '–';
  const isHere = (replica: Replica) =>
    place.kind === 'node' ? replica.nodeId === place.id : replica.diskId === place.id;
  const columns: Column<Copy>[] = [
    {
      header: 'Volume',
      cell: ({ volume }) => (
        <Link
          href={paths.volume(volume.id)}
          className="inline-flex min-h-6 items-center font-medium hover:underline"
        >
          {volume.name}
        </Link>
      ),
    },
    { header: 'Its health', cell: ({ volume }) => <RobustnessBadge volume={volume} /> },
    {
      header: 'This copy',
      cell: ({ volume, replica }) => {
        const { tone, word } = replicaLook(replica, volume, silent);
        return (
          <Badge tone={tone} quiet>
            {word}
          </Badge>
        );
      },
    },
    ...(place.kind === 'node'
      ? [{ header: 'Disk', cell: ({ replica }: Copy) => diskName(replica.diskId) }]
      : []),
    { header: 'Wanted', cell: ({ replica }) => <span className="text-muted">{intentWord(replica)}</span> },
    { header: 'Size', align: 'right', cell: ({ replica }) => formatBytes(replica.size) },
    {
      header: 'Written',
      align: 'right',
      cell: ({ replica }) => <span className="text-muted">{formatBytes(replica.writtenBytes)}</span>,
    },
  ];
  return (
    <Panel
      title="Copies on it"
      hint="Those of volumes that need a look first"
      flush
      aside={
        <CopyQuestionAs
          of="the copies on it"
          question={{
            path: '/clusters/{clusterId}/volumes',
            query: { filter: copiesIn(place), sort: COPIES_SORT },
          }}
          isList
        />
      }
    >
      <Paged
        query={volumes}
        what="the copies"
        rows={4}
        empty={
          <Message title="No copies here" body="New volumes may be placed on it as long as it is open." />
        }
        note={(shown) =>
          `Copies of ${shown} volumes shown${total === undefined ? '' : `, ${total} copies in all`}`
        }
      >
        {(found) => (
          <Table
            label="Copies"
            rows={found.flatMap((volume) =>
              volume.replicas.filter(isHere).map((replica) => ({ volume, replica })),
            )}
            columns={columns}
            rowKey={({ replica }) => replica.id}
            empty={<Message title="No copies here" />}
          />
        )}
      </Paged>
    </Panel>
  );
}

const INTENT_WORDS = {
  keep: 'stays',
  evict: 'moves elsewhere',
  remove: 'is removed',
} satisfies Record<Replica['intent'], string>;

function intentWord({ intent, relocation }: Replica): string {
  return relocation === null ? INTENT_WORDS[intent] : 'replaces another copy';
}
