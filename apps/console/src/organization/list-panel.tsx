'use client';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isProblem } from '../api/problem';
import { sentence } from '../sentence';
import { CopyQuestionAs } from '../shared/copy-question';
import { Loaded } from '../shared/loaded';

type Props<Row> = {
  title: string;
  hint?: string;
  aside?: ReactNode;
  query: Parameters<typeof Loaded<Row[]>>[0]['query'];
  what: string;
  /** Path of the list below `/api/v1`, where it is another one than the tab's own, which is copied from its head. */
  path?: string;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  empty: { title: string; body?: ReactNode };
};

/** A panel with a list of the organization, or why the user may not see it. */
export function ListPanel<Row>(props: Props<Row>) {
  const { title, hint, aside, query, what, path, columns, rowKey, empty } = props;
  const refused = isProblem(query.error) && query.error.status === 403 ? query.error : undefined;
  const asides =
    path === undefined ? (
      aside
    ) : (
      <span className="flex flex-wrap gap-2">
        {aside}
        <CopyQuestionAs of={what} question={{ path }} isList />
      </span>
    );
  return (
    <Panel title={title} {...(hint === undefined ? {} : { hint })} aside={asides} flush>
      {refused !== undefined ? (
        <Message
          title={`You may not see ${what}`}
          body={[refused.detail, ...refused.cures].map(sentence).join(' ')}
        />
      ) : (
        <Loaded query={query} what={what} rows={3}>
          {(rows) => (
            <Table
              label={title}
              rows={rows}
              columns={columns}
              rowKey={rowKey}
              empty={<Message title={empty.title} body={empty.body} />}
            />
          )}
        </Loaded>
      )}
    </Panel>
  );
}

/** A list of the organization, under the key that its changes ask for again. */
export function useOrganizationList<T>(name: string, ask: () => Promise<T>) {
  return useQuery({ queryKey: ['organization', name], queryFn: ask });
}
