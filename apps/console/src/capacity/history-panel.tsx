'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import { CircleCheck, CircleHelp, OctagonAlert, TrendingUp } from 'lucide-react';
import { useMemo } from 'react';
import { useCapacityHistory } from '../api/queries';
import type { ClusterCapacity } from '../api/types';
import { Loaded } from '../shared/loaded';
import { type Sample, spaceChart, tableRows, trafficChart } from './history';
import { TimeChart } from './time-chart';

/** Selectable spans, in days. */
export const SPANS = [2, 30, 90] as const;
export type Span = (typeof SPANS)[number];

/** A growth that fills the cluster within a month calls for disks that have to be bought. */
const SOON_DAYS = 30;
const TABLE_ROWS_MAX = 24;

type Props = { days: Span; onSpan: (days: Span) => void };

/** Answers: when will it be full? With what there was in the last days. */
export function HistoryPanel({ days, onSpan }: Props) {
  const history = useCapacityHistory(days);
  return (
    <Panel
      title="When will it be full?"
      hint="From the samples of at most the last 30 days"
      aside={<Spans days={days} onSpan={onSpan} />}
      flush
    >
      <Loaded query={history} what="the history of capacity" rows={6}>
        {(capacity) => <History capacity={capacity} />}
      </Loaded>
    </Panel>
  );
}

function Spans({ days, onSpan }: Props) {
  return (
    <fieldset className="flex rounded border border-border text-xs">
      <legend className="sr-only">Time that is shown</legend>
      {SPANS.map((span) => (
        <button
          key={span}
          type="button"
          aria-pressed={span === days}
          onClick={() => onSpan(span)}
          className="min-h-7 px-2.5 hover:bg-hover aria-pressed:bg-sunken aria-pressed:font-semibold"
        >
          {span} days
        </button>
      ))}
    </fieldset>
  );
}

function History({ capacity }: { capacity: ClusterCapacity }) {
  const space = useMemo(() => spaceChart(capacity), [capacity]);
  const traffic = useMemo(() => trafficChart(capacity), [capacity]);
  return (
    <>
      <Forecast forecast={capacity.forecast} />
      {capacity.samples.length === 0 ? (
        <p className="p-4 text-sm text-muted">
          No samples yet. The worker takes one every five minutes, of clusters that have disks.
        </p>
      ) : (
        <div className="flex flex-col gap-5 p-4">
          <TimeChart label="Space on the disks" chart={space} />
          <TimeChart label="Rebuild traffic" chart={traffic} />
          <details>
            <summary className="min-h-6 cursor-pointer text-sm text-muted">The same as a table</summary>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys */}
            <section aria-label="Samples" tabIndex={0} className="max-h-96 overflow-y-auto">
              <Table
                label="History of capacity"
                rows={tableRows(capacity.samples, TABLE_ROWS_MAX)}
                columns={COLUMNS}
                rowKey={({ at }) => at}
                empty={null}
              />
            </section>
          </details>
        </div>
      )}
    </>
  );
}

function Forecast({ forecast }: { forecast: ClusterCapacity['forecast'] }) {
  const { Icon, tone } = lookOf(forecast);
  return (
    <div role="status" className="flex items-center gap-3 border-b border-border p-4">
      <Icon aria-hidden size={30} className={`shrink-0 ${tone}`} />
      <p className="text-base font-semibold">{forecast.sentence}</p>
    </div>
  );
}

function lookOf({ verdict, days }: ClusterCapacity['forecast']) {
  switch (verdict) {
    case 'unknown':
      return { Icon: CircleHelp, tone: 'text-muted' };
    case 'steady':
      return { Icon: CircleCheck, tone: 'text-good' };
    case 'growing':
      return { Icon: TrendingUp, tone: (days ?? 0) <= SOON_DAYS ? 'text-warn' : 'text-good' };
    case 'full':
      return { Icon: OctagonAlert, tone: 'text-bad' };
  }
}

const COLUMNS: Column<Sample>[] = [
  { header: 'Time', cell: ({ at }) => <Moment at={at} /> },
  { header: 'Size', align: 'right', cell: ({ maximum }) => formatBytes(maximum) },
  { header: 'Free', align: 'right', cell: ({ available }) => formatBytes(available) },
  { header: 'Promised', align: 'right', cell: ({ scheduled }) => formatBytes(scheduled) },
  { header: 'Written', align: 'right', cell: ({ written }) => formatBytes(written) },
  {
    header: 'Sent by rebuilds in the step',
    align: 'right',
    cell: ({ rebuildTraffic }) => formatBytes(rebuildTraffic),
  },
];
