import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Moment } from '@holdfast/ui/moment.js';
import type { ReactNode } from 'react';
import type { Volume } from '../api/types';
import { NodeName } from '../shared/node-name';
import { ReplicaDots } from '../shared/replica-dots';
import { RobustnessBadge, StateBadge } from '../shared/volume-badges';
import type { ColumnId } from './list-state';

export type VolumeColumn = {
  readonly header: string;
  /** Field that the API sorts by; left out: it can't be sorted by this. */
  readonly sort?: string;
  readonly align?: 'right';
  readonly widthRem: number;
  /** Class of its width on a phone, where the name keeps a third of the screen. */
  readonly phoneWidth?: string;
  /** Left out on a phone. */
  readonly isWide?: boolean;
  readonly cell: (volume: Volume) => ReactNode;
};

export const VOLUME_COLUMNS: Readonly<Record<ColumnId, VolumeColumn>> = {
  health: {
    header: 'Health',
    sort: 'risk',
    widthRem: 9,
    phoneWidth: 'max-md:w-36 max-sm:w-32',
    cell: (volume) => <RobustnessBadge volume={volume} />,
  },
  copies: {
    header: 'Copies',
    sort: 'numberOfReplicas',
    widthRem: 10,
    phoneWidth: 'max-md:w-40 max-sm:w-16',
    cell: (volume) => <ReplicaDots volume={volume} dotsClassName="max-sm:hidden" />,
  },
  state: {
    header: 'State',
    sort: 'state',
    widthRem: 9,
    isWide: true,
    cell: (volume) => <StateBadge volume={volume} />,
  },
  attached: {
    header: 'Attached to',
    widthRem: 11,
    isWide: true,
    cell: (volume) => (
      <span className="block truncate text-muted">
        <NodeName id={volume.attachedNodeId} />
      </span>
    ),
  },
  size: {
    header: 'Size',
    sort: 'size',
    align: 'right',
    widthRem: 8,
    isWide: true,
    cell: (volume) => formatBytes(volume.size),
  },
  written: {
    header: 'Written',
    sort: 'writtenBytes',
    align: 'right',
    widthRem: 8,
    isWide: true,
    cell: (volume) => <span className="text-muted">{formatBytes(volume.writtenBytes)}</span>,
  },
  labels: {
    header: 'Labels',
    widthRem: 14,
    isWide: true,
    cell: (volume) => <Labels labels={volume.labels} />,
  },
  created: {
    header: 'Created',
    sort: 'createdAt',
    align: 'right',
    widthRem: 8,
    isWide: true,
    cell: (volume) => (
      <span className="text-muted">
        <Moment at={volume.createdAt} />
      </span>
    ),
  },
};

function Labels({ labels }: { labels: Volume['labels'] }) {
  const text = Object.entries(labels)
    .map(([key, value]) => (value === '' ? key : `${key}=${value}`))
    .join(', ');
  return (
    <span className="block truncate text-muted" title={text}>
      {text}
    </span>
  );
}
