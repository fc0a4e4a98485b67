'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import type { Simulation } from '../api/types';
import { sentence } from '../sentence';
import { timeSentence } from '../shared/drain-words';
import { CureList } from '../shared/explanation-tables';
import { VOLUME_ENDS } from '../states';

type Forecast = Simulation['forecast'];
type Forecasted = Forecast['volumes']['shown'][number];

const COLUMNS: Column<Forecasted>[] = [
  { header: 'Volume', className: 'min-w-28', cell: ({ volumeName }) => volumeName },
  {
    header: 'Comes to',
    cell: ({ end }) => <Badge tone={VOLUME_ENDS[end].tone}>{VOLUME_ENDS[end].word}</Badge>,
  },
  { header: 'Now', align: 'right', cell: ({ copiesNow }) => copiesNow },
  { header: 'Fewest', align: 'right', cell: ({ copiesAtLowest }) => copiesAtLowest },
  {
    header: 'End',
    align: 'right',
    cell: ({ copiesAtEnd, copiesWanted }) => (
      <span className="whitespace-nowrap">
        {copiesAtEnd} of {copiesWanted}
      </span>
    ),
  },
  {
    header: 'To copy',
    align: 'right',
    cell: ({ bytesToMove }) => <span className="whitespace-nowrap">{formatBytes(bytesToMove)}</span>,
  },
  {
    header: 'Why not all',
    cell: ({ why }) => <p className="py-1 text-muted">{why === null ? '' : sentence(why)}</p>,
  },
];

/** Time until all possible copies are built, and the result for each volume, the worst first. */
export function ForecastPanel({ forecast }: { forecast: Forecast }) {
  const { time, rebuilds, bytesToMove, lowWater, volumes, firstUnschedulable } = forecast;
  const cures = firstUnschedulable?.cures ?? [];
  return (
    <Panel
      title="How long it takes"
      hint={
        volumes.shown.length < volumes.total
          ? `${volumes.shown.length} of ${volumes.total} shown, worst first`
          : 'Worst first'
      }
      flush
    >
      <div className="flex flex-col gap-1 px-4 py-3 text-sm">
        <p className="font-medium">
          {time === null
            ? 'No copy is built.'
            : `${rebuilds === 1 ? '1 copy is' : `${rebuilds} copies are`} built, ${formatBytes(bytesToMove)} in all. ${timeSentence(time)}`}
          {forecast.isCut && ' It takes longer than that: the forecast was cut at its bound.'}
        </p>
        {lowWater !== null && (
          <p>
            Fewest healthy copies meanwhile: {lowWater.copies}, of{' '}
            {lowWater.volumes === 1 ? '1 volume' : `${lowWater.volumes} volumes`}.
          </p>
        )}
        <p className="text-muted">
          Volumes: lost {forecast.volumesLost} · degraded meanwhile {forecast.volumesDegraded} · without a
          place {forecast.volumesUnschedulable} · waiting for a user or a node {forecast.volumesWaiting}
        </p>
      </div>
      <Table
        label="Forecast of volumes"
        rows={volumes.shown}
        rowKey={({ volumeId }) => volumeId}
        empty={<p className="p-4 text-sm text-muted">None of those you may see is concerned.</p>}
        columns={COLUMNS}
      />
      {firstUnschedulable !== null && cures.length > 0 && (
        <div className="py-3">
          <CureList cures={cures} search={firstUnschedulable.cureSearch} />
        </div>
      )}
    </Panel>
  );
}
