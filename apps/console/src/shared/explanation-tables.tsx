'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import type { ReactNode } from 'react';
import type { PlacementExplanation } from '../api/types';
import { reasonInWords, tierOutcome } from '../rules';

type Filters = PlacementExplanation['filters'];
type Rejection = Filters[number]['rejections'][number] & { rule: string };

/** Rows of all rules together: as much as one reads on a page. The counts above have the rest. */
const REFUSED_SHOWN_MAX = 30;

function Part({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <div>
      <h3 className="px-4 pb-1 text-xs font-semibold text-muted">{title}</h3>
      {note !== undefined && <p className="px-4 pb-1 text-xs text-muted">{note}</p>}
      {/* A wide table scrolls within the page, by keyboard too. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable */}
      <section className="overflow-x-auto" aria-label={`${title}, scrollable`} tabIndex={0}>
        {children}
      </section>
    </div>
  );
}

/** Each was tried before it is shown. */
export function CureList({
  cures,
  search,
  what = 'it',
  buttonsOf,
}: Pick<PlacementExplanation, 'cures'> & {
  search: PlacementExplanation['cureSearch'];
  /** Replicas to which they give a place, if these are not all in question. */
  what?: string;
  /** The way to carry one out; left out where the cluster is a supposed one. */
  buttonsOf?: (cure: PlacementExplanation['cures'][number]) => ReactNode;
}) {
  const note = search.isComplete
    ? 'The scheduler was run with each of them.'
    : `The scheduler was run with each of them. ${search.tried} changes were tried; there may be others as small.`;
  return (
    <div className="px-4">
      <h3 className="text-xs font-semibold text-muted">What would make {what} fit, smallest first</h3>
      <p className="pb-1 text-xs text-muted">{note}</p>
      <ol className="list-decimal pl-5 text-sm">
        {cures.map((cure) => (
          <li key={cure.sentence} className="py-0.5">
            {cure.sentence}
            {buttonsOf?.(cure)}
          </li>
        ))}
      </ol>
    </div>
  );
}

export function RuleTable({ filters }: { filters: Filters }) {
  const asked = filters.filter(({ asked: count }) => count > 0);
  const silent = filters.length - asked.length;
  return (
    <Part
      title="Rules, in their order"
      note={`Each judges the candidates that passed those before it. ${silent} more did not apply or had no candidates left.`}
    >
      <Table
        label="Rules"
        rows={asked}
        rowKey={({ name, subject }) => `${subject} ${name}`}
        empty={<p className="px-4 text-sm text-muted">The cluster has no node to ask about.</p>}
        columns={[
          { header: 'Rule', cell: ({ name, description }) => description ?? name },
          { header: 'Asked', align: 'right', cell: ({ asked: count, subject }) => counted(count, subject) },
          {
            header: 'Refused',
            align: 'right',
            cell: ({ rejected }) =>
              rejected === 0 ? <span className="text-faint">0</span> : <strong>{rejected}</strong>,
          },
          {
            header: 'Because',
            cell: ({ reasons }) =>
              reasons.map(({ reason, count }) => `${reasonInWords(reason)} (${count})`).join(', '),
          },
        ]}
      />
    </Part>
  );
}

function counted(count: number, subject: string): string {
  return `${count} ${subject}${count === 1 ? '' : 's'}`;
}

export function RefusedTable({ filters }: { filters: Filters }) {
  const refused = filters.flatMap(({ name, rejections }): Rejection[] =>
    rejections.map((rejection) => ({ ...rejection, rule: name })),
  );
  if (refused.length === 0) return null;
  const total = filters.reduce((sum, { rejected }) => sum + rejected, 0);
  const shown = refused.slice(0, REFUSED_SHOWN_MAX);
  const hasNumbers = shown.some(({ numbers }) => numbers !== null);
  return (
    <Part title={shown.length < total ? `Refused: ${shown.length} of ${total}` : 'Refused'}>
      <Table
        label="Refused candidates"
        rows={shown}
        rowKey={({ rule, nodeId, diskId }) => `${rule} ${nodeId} ${diskId}`}
        empty={null}
        columns={[
          {
            header: 'Place',
            className: 'whitespace-nowrap',
            cell: ({ nodeName, diskName }) => [nodeName, diskName].filter(Boolean).join(', '),
          },
          { header: 'Why', className: 'py-1', cell: ({ message }) => message },
          ...(hasNumbers ? NUMBER_COLUMNS : []),
        ]}
      />
    </Part>
  );
}

/** Only the rules about space compare numbers. */
const NUMBER_COLUMNS: Column<Rejection>[] = [
  numberColumn('Needs', (numbers) => numbers.requiredBytes),
  numberColumn('Has', (numbers) => numbers.availableBytes),
  numberColumn('Threshold', (numbers) => numbers.thresholdBytes),
];

function numberColumn(
  header: string,
  bytesOf: (numbers: NonNullable<Rejection['numbers']>) => number,
): Column<Rejection> {
  return {
    header,
    align: 'right',
    className: 'whitespace-nowrap',
    cell: ({ numbers }) => (numbers === null ? '' : formatBytes(bytesOf(numbers))),
  };
}

export function TierTable({ tiers }: Pick<PlacementExplanation, 'tiers'>) {
  return (
    <Part title="Where it may go, safest first">
      <Table
        label="Tiers"
        rows={tiers}
        rowKey={({ name }) => name}
        empty={null}
        columns={[
          { header: 'Kind of place', className: 'py-1', cell: ({ description }) => description },
          { header: 'Nodes', align: 'right', cell: ({ nodes }) => nodes },
          { header: 'Disks that fit', align: 'right', cell: ({ candidates }) => candidates },
          {
            header: 'Outcome',
            cell: ({ outcome }) => (
              <Badge tone={outcome === 'won' ? 'good' : 'idle'} quiet>
                {tierOutcome(outcome)}
              </Badge>
            ),
          },
        ]}
      />
    </Part>
  );
}

export function ScoreTable({ scores, alpha }: Pick<PlacementExplanation, 'scores' | 'alpha'>) {
  return (
    <Part
      title="Best candidates"
      note={`Lower is more even. First among nodes, then among the node's disks; free bytes weigh ${alpha}, free shares ${Number((1 - alpha).toFixed(3))}.`}
    >
      <Table
        label="Best candidates"
        rows={scores}
        rowKey={({ diskId }) => diskId}
        empty={null}
        columns={[
          {
            header: 'Place',
            cell: ({ nodeName, diskName, isChosen }) => (
              <span className="flex items-center gap-2">
                {nodeName}, {diskName}
                {isChosen && <Badge tone="good">Chosen</Badge>}
              </span>
            ),
          },
          { header: 'Usable', align: 'right', cell: ({ disk }) => formatBytes(disk.usableBeforeBytes) },
          { header: 'Usable then', align: 'right', cell: ({ disk }) => formatBytes(disk.usableAfterBytes) },
          { header: 'Node score', align: 'right', cell: ({ node }) => node.score.toFixed(3) },
          { header: 'Disk score', align: 'right', cell: ({ disk }) => disk.score.toFixed(3) },
        ]}
      />
    </Part>
  );
}
