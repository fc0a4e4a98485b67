'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Moment } from '@holdfast/ui/moment.js';
import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import type { Snapshot, Volume } from '../api/types';
import { SNAPSHOT_STATE } from '../states';
import { layOutTree, type TreeRow } from './snapshot-tree';

const ROW_HEIGHT = 52;
const COLUMN_WIDTH = 18;
const DOT_RADIUS = 5;

type Props = {
  volume: Volume;
  snapshots: readonly Snapshot[];
  actions: (snapshot: Snapshot) => ReactNode;
};

/** The volume on top, below it its parents, and beside them branches left by a revert. */
export function SnapshotPicture({ volume, snapshots, actions }: Props) {
  const { chain } = volume;
  const head = chain?.headParentId ?? snapshots.find(({ isHeadParent }) => isHeadParent)?.id ?? null;
  const rows = layOutTree(snapshots, head);
  const columns = Math.max(...rows.map(({ column }) => column)) + 1;
  return (
    <ol aria-label="Snapshots, newest first">
      {rows.map((row) => {
        const snapshot = snapshots.find(({ id }) => id === row.id);
        return (
          <li
            key={row.id ?? 'now'}
            className="flex items-center gap-2 pr-4 pl-3 hover:bg-hover"
            style={{ minHeight: ROW_HEIGHT }}
          >
            <Lines
              row={row}
              columns={columns}
              isFaded={snapshot !== undefined && snapshot.state !== 'ready'}
            />
            {snapshot === undefined ? (
              <Now volume={volume} />
            ) : (
              <>
                <Words snapshot={snapshot} isBranch={row.column > 0} />
                <div className="flex shrink-0 gap-1">{actions(snapshot)}</div>
              </>
            )}
          </li>
        );
      })}
    </ol>
  );
}

function Now({ volume }: { volume: Volume }) {
  return (
    <div className="min-w-0 flex-1">
      <p className="text-sm font-semibold">Now</p>
      <p className="text-xs tabular-nums text-muted">
        {volume.chain === null
          ? 'What is written goes here'
          : `${formatBytes(volume.chain.headBytes)} written since the last snapshot`}
      </p>
    </div>
  );
}

function Words({ snapshot, isBranch }: { snapshot: Snapshot; isBranch: boolean }) {
  const look = SNAPSHOT_STATE[snapshot.state];
  return (
    <div className="min-w-0 flex-1">
      <p className="flex min-w-0 items-center gap-2">
        <span
          title={snapshot.name}
          className={clsx('truncate text-sm', snapshot.origin === 'user' ? 'font-medium' : 'text-muted')}
        >
          {snapshot.name}
        </span>
        {look.word !== '' && (
          <Badge tone={look.tone} quiet>
            {look.word}
          </Badge>
        )}
        {snapshot.isHashing && (
          <Badge tone="busy" quiet>
            Hashing
          </Badge>
        )}
      </p>
      <p className="truncate text-xs tabular-nums text-muted">
        {formatBytes(snapshot.size)} · <Moment at={snapshot.createdAt} />
        {snapshot.origin === 'system' && ' · made by Holdfast'}
        {snapshot.recurringName !== null && ` · by ${snapshot.recurringName}`}
        {isBranch && ' · on a branch'}
        {snapshot.checksum !== null && (
          <>
            {' · '}
            <code className="font-mono" title={`BLAKE3 ${snapshot.checksum}`}>
              {snapshot.checksum.slice(0, 8)}
            </code>
          </>
        )}
      </p>
      {snapshot.error !== null && <p className="text-xs text-bad">{snapshot.error}</p>}
    </div>
  );
}

/** The part of the picture that is beside one row. Words say the same, so it is hidden from screen readers. */
function Lines({ row, columns, isFaded }: { row: TreeRow; columns: number; isFaded: boolean }) {
  const centre = (column: number) => column * COLUMN_WIDTH + COLUMN_WIDTH / 2;
  const [x, y] = [centre(row.column), ROW_HEIGHT / 2];
  const passing = Array.from({ length: row.column }, (_, column) => column);
  return (
    <svg
      aria-hidden
      width={columns * COLUMN_WIDTH}
      height={ROW_HEIGHT}
      className="shrink-0 fill-none stroke-border-strong"
      strokeWidth={2}
    >
      {passing.map((column) => (
        <line key={column} x1={centre(column)} x2={centre(column)} y1={0} y2={ROW_HEIGHT} />
      ))}
      {!row.isTop && <line x1={x} x2={x} y1={0} y2={y} />}
      {row.joinsLeft && (
        <path
          d={`M${x} ${y} C ${x} ${ROW_HEIGHT}, ${centre(row.column - 1)} ${y + 6}, ${centre(row.column - 1)} ${ROW_HEIGHT}`}
        />
      )}
      {!row.joinsLeft && !row.isRoot && <line x1={x} x2={x} y1={y} y2={ROW_HEIGHT} />}
      <circle
        cx={x}
        cy={y}
        r={DOT_RADIUS}
        className={clsx(
          row.id === undefined ? 'fill-accent stroke-accent' : 'fill-raised stroke-accent',
          isFaded && 'stroke-border-strong',
        )}
        strokeDasharray={isFaded ? '3 2' : undefined}
      />
    </svg>
  );
}
