'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Panel } from '@holdfast/ui/panel.js';
import { Table } from '@holdfast/ui/table.js';
import type { ReactNode } from 'react';
import type { Simulation } from '../api/types';
import { CureList } from '../shared/explanation-tables';
import { ForecastPanel } from './forecast-panel';

type Fill = Simulation['zones'][number]['before'];
type Placed = Simulation['shapes'][number]['placed'];

/** Volumes of a kind whose places are listed: enough to see the pattern. */
const PLACED_SHOWN_MAX = 10;

/** First the sentence, then what fits, what does not and why, and how full it all gets. */
export function WhatIfResult({ result, copyAs }: { result: Simulation; copyAs: ReactNode }) {
  return (
    <div className="flex flex-col gap-4">
      <Panel
        title="Answer"
        aside={
          <span className="flex items-center gap-2">
            <Badge tone={result.allFit ? 'good' : 'warn'}>
              {result.allFit ? 'All fits' : 'Not all fits'}
            </Badge>
            {copyAs}
          </span>
        }
      >
        <p className="text-sm font-medium">{result.sentence}</p>
        {result.shapes.map((shape) => (
          <Shape key={shape.shape} shape={shape} />
        ))}
      </Panel>
      {result.forecast.lowWater !== null && <ForecastPanel forecast={result.forecast} />}
      {result.existing.volumesHit > 0 && <Existing existing={result.existing} />}
      <Panel title="How full it gets" hint="Promised of what each zone can hold, now and then" flush>
        <Table
          label="Zones"
          rows={result.zones}
          rowKey={({ zone }) => zone ?? ''}
          empty={<p className="p-4 text-sm text-muted">The cluster has no node.</p>}
          columns={[
            { header: 'Zone', cell: ({ zone }) => zone ?? 'No zone' },
            { header: 'Now', align: 'right', cell: ({ before }) => fillInWords(before, 'not there') },
            { header: 'Then', align: 'right', cell: ({ after }) => fillInWords(after, 'gone') },
          ]}
        />
      </Panel>
    </div>
  );
}

function Shape({ shape }: { shape: Simulation['shapes'][number] }) {
  const { asked, fit, sizeBytes, placed, firstFailure, howManyMore } = shape;
  return (
    <div className="mt-3 flex flex-col gap-1 text-sm">
      <p>
        {fit} of {asked} of {formatBytes(sizeBytes)} fit.
        {howManyMore !== null &&
          ` After them ${howManyMore.isAtLeast ? 'at least ' : ''}${howManyMore.count} more would.`}
      </p>
      <Places placed={placed} fit={fit} />
      {howManyMore?.limitedBy != null && firstFailure === null && (
        <p className="text-muted">What stops the next: {howManyMore.limitedBy}</p>
      )}
      {firstFailure !== null && (
        <>
          <p className="text-muted">
            Volume {firstFailure.volumeNumber}, copy {firstFailure.replicaNumber}:{' '}
            {firstFailure.explanation.sentence}
          </p>
          {firstFailure.explanation.cures.length > 0 && (
            <div className="-mx-4 mt-2">
              <CureList
                cures={firstFailure.explanation.cures}
                search={firstFailure.explanation.cureSearch}
                what={`copy ${firstFailure.replicaNumber} of volume ${firstFailure.volumeNumber}`}
              />
              {asked - fit > 1 && (
                <p className="px-4 pt-1 text-xs text-muted">The volumes after it may need more.</p>
              )}
            </div>
          )}
        </>
      )}
    </div>
  );
}

/** Where each volume's copies go. */
function Places({ placed, fit }: { placed: Placed; fit: number }) {
  if (placed.length === 0) return null;
  const shown = placed.slice(0, PLACED_SHOWN_MAX);
  return (
    <ol aria-label="Where they go" className="list-decimal pl-6 text-muted tabular-nums">
      {shown.map(({ number, places }) => (
        <li key={number}>{places.map(({ nodeName, diskName }) => `${nodeName}, ${diskName}`).join(' · ')}</li>
      ))}
      {fit > shown.length && <li className="list-none">and {fit - shown.length} more</li>}
    </ol>
  );
}

type Outcome = { key: string; volume: string; tone: 'good' | 'warn' | 'bad'; word: string; detail: string };

function Existing({ existing }: Pick<Simulation, 'existing'>) {
  const outcomes: Outcome[] = [
    ...existing.lostVolumes.shown.map(({ volumeId, volumeName }) => ({
      key: volumeId,
      volume: volumeName,
      tone: 'bad' as const,
      word: 'Lost',
      detail: 'no full copy is left to build from',
    })),
    ...existing.stranded.shown.map(({ replicaId, volumeName, why }) => ({
      key: replicaId,
      volume: volumeName,
      tone: 'warn' as const,
      word: 'Fits nowhere',
      detail: why,
    })),
    ...existing.replaced.shown.map(({ replicaId, volumeName, place }) => ({
      key: replicaId,
      volume: volumeName,
      tone: 'good' as const,
      word: 'Built anew',
      detail: `on ${place.nodeName}, ${place.diskName}`,
    })),
  ];
  const total = existing.lostVolumes.total + existing.stranded.total + existing.replaced.total;
  return (
    <Panel
      title="Volumes there are"
      hint={outcomes.length < total ? `${outcomes.length} of ${total} shown, worst first` : 'Worst first'}
      flush
    >
      <Table
        label="Existing volumes"
        rows={outcomes}
        rowKey={({ key }) => key}
        empty={<p className="p-4 text-sm text-muted">None of those you may see is hit.</p>}
        columns={[
          { header: 'Volume', className: 'min-w-28', cell: ({ volume }) => volume },
          {
            header: 'Its copy',
            cell: ({ tone, word }) => <Badge tone={tone}>{word}</Badge>,
          },
          { header: 'Where, or why not', cell: ({ detail }) => detail },
        ]}
      />
    </Panel>
  );
}

function fillInWords(fill: Fill, absent: string): string {
  if (fill === null) return absent;
  const { scheduledBytes, capacityBytes } = fill;
  const share = capacityBytes > 0 ? ` (${Math.round((100 * scheduledBytes) / capacityBytes)} %)` : '';
  return `${formatBytes(scheduledBytes)} of ${formatBytes(capacityBytes)}${share}`;
}
