'use client';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { Plus } from 'lucide-react';
import { Suspense, useCallback, useEffect, useState } from 'react';
import { useRisk, useVolumePages } from '../../../src/api/queries';
import type { Volume } from '../../../src/api/types';
import { useForbidden } from '../../../src/api/use-access';
import { sentence } from '../../../src/sentence';
import { CopyQuestionAs } from '../../../src/shared/copy-question';
import { ListSearch } from '../../../src/shared/list-search';
import { Loaded } from '../../../src/shared/loaded';
import { NoneFound } from '../../../src/shared/none-found';
import { PageHeader } from '../../../src/shared/page-header';
import { BulkActions } from '../../../src/volumes/bulk-actions';
import { CreateVolume } from '../../../src/volumes/create-volume';
import type { ListState } from '../../../src/volumes/list-state';
import { ListTools } from '../../../src/volumes/list-tools';
import { EVERYTHING, isNothing, NOTHING, SELECTED_MAX, type Selection } from '../../../src/volumes/selection';
import { type ChangeState, useListState } from '../../../src/volumes/use-list-state';
import { useSelectedItems, useSelection } from '../../../src/volumes/use-selection';
import { completeVolumeFilter, filterOf, problemOf, QUICK_FILTERS } from '../../../src/volumes/volume-filter';
import { VolumeGrid } from '../../../src/volumes/volume-grid';

export default function VolumesPage() {
  return (
    <Suspense>
      <Volumes />
    </Suspense>
  );
}

function Volumes() {
  const [state, change] = useListState();
  const [creating, setCreating] = useState(false);
  // The selection belongs to the search: an action must not continue with volumes that are no longer displayed.
  const search = useCallback(
    (text: string) => change(text === state.text ? { text } : { text, selection: NOTHING }),
    [change, state.text],
  );
  const forbidden = useForbidden()('volume:write');
  const create = (
    <Button variant="primary" disabledReason={forbidden} onClick={() => setCreating(true)}>
      <Plus aria-hidden size={15} /> Create volume
    </Button>
  );
  const query = { filter: filterOf(state.text), sort: state.sort };
  const actions = (
    <>
      {create}
      <CopyQuestionAs question={{ path: '/clusters/{clusterId}/volumes', query }} isList />
    </>
  );
  return (
    <>
      <title>Volumes · Holdfast</title>
      <PageHeader title="Volumes" subtitle="What needs a look comes first." actions={actions} />
      <Panel title="All volumes">
        <div className="-m-4">
          <ListSearch
            label="Search volumes"
            placeholder="Name, or a filter such as size>10Gi"
            quickFilters={QUICK_FILTERS}
            text={state.text}
            onText={search}
            complete={completeVolumeFilter}
            aside={<ListTools state={state} change={change} />}
          />
          <VolumeTable
            state={state}
            change={change}
            onCreate={() => setCreating(true)}
            onClear={() => search('')}
          />
        </div>
      </Panel>
      <CreateVolume open={creating} onOpenChange={setCreating} />
    </>
  );
}

type TableProps = { state: ListState; change: ChangeState; onCreate: () => void; onClear: () => void };

function VolumeTable({ state, change, onCreate, onClear }: TableProps) {
  const { text, sort, columns, density } = state;
  const [filter, problem] = useReadableFilter(text);
  const volumes = useVolumePages(filter, sort);
  const risk = useRisk();
  const [selected, setSelected] = useSelection(state, change);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = volumes;
  const askNext = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const total = text === '' ? risk.data?.volumes.total : undefined;
  return (
    <>
      {problem !== undefined && (
        <p role="status" className="border-b border-border px-4 py-1.5 text-xs text-warn">
          {sentence(problem)}
        </p>
      )}
      <Loaded query={volumes} what="the volumes" rows={6}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          if (rows.length === 0)
            return (
              <NoneFound query={volumes} rows={6}>
                {text === '' ? <NoVolumes onCreate={onCreate} /> : <NoMatch onClear={onClear} />}
              </NoneFound>
            );
          return (
            <>
              <VolumeGrid
                rows={rows}
                columns={columns}
                density={density}
                sort={sort}
                onSort={(next) => change({ sort: next })}
                selected={selected}
                onSelect={setSelected}
                onEnd={askNext}
              />
              <p role="status" className="border-t border-border px-4 py-2 text-xs text-muted">
                {shownText(rows.length, total, hasNextPage)}
              </p>
              <Selected selection={selected} select={setSelected} rows={rows} pages={volumes} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

type SelectedProps = {
  selection: Selection;
  select: (next: Selection) => void;
  rows: readonly Volume[];
  pages: Pick<ReturnType<typeof useVolumePages>, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;
};

/** Actions on the selected volumes, and the link to select all matches. */
function Selected({ selection, select, rows, pages }: SelectedProps) {
  const { items, missing } = useSelectedItems(selection, rows, pages);
  const isFull = !selection.isAll && selection.ids.size === SELECTED_MAX;
  return (
    <BulkActions
      items={items}
      missing={missing}
      isAll={selection.isAll}
      onAll={selection.isAll || isNothing(selection) ? undefined : () => select(EVERYTHING)}
      note={isFull ? `At most ${SELECTED_MAX} one by one` : undefined}
      onClear={() => select(NOTHING)}
    />
  );
}

/** The filter, and its error: while one is being typed, the list keeps the last valid one. */
function useReadableFilter(text: string): [filter: string, problem: string | undefined] {
  const filter = filterOf(text);
  const problem = problemOf(filter);
  const [last, setLast] = useState(problem === undefined ? filter : '');
  useEffect(() => {
    if (problem === undefined) setLast(filter);
  }, [filter, problem]);
  return [problem === undefined ? filter : last, problem];
}

function shownText(loaded: number, total: number | undefined, hasMore: boolean): string {
  if (total !== undefined) return `${loaded.toLocaleString('en')} shown of ${total.toLocaleString('en')}`;
  return `${loaded.toLocaleString('en')}${hasMore ? ' and more' : ''} shown`;
}

function NoVolumes({ onCreate }: { onCreate: () => void }) {
  const forbidden = useForbidden()('volume:write');
  return (
    <Message
      title="No volumes yet"
      body={
        <code className="font-mono text-xs">npx holdfast volume create data --size 1Gi --replicas 3</code>
      }
      action={
        <Button disabledReason={forbidden} onClick={onCreate}>
          Create the first one
        </Button>
      }
    />
  );
}

function NoMatch({ onClear }: { onClear: () => void }) {
  return <Message title="No volume matches" action={<Button onClick={onClear}>Show all</Button>} />;
}
