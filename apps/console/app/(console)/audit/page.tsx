'use client';
import { Message, Skeleton } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useAuditPages } from '../../../src/api/queries';
import type { AuditEntry } from '../../../src/api/types';
import { useAllowed, useForbidden } from '../../../src/api/use-access';
import { AuditLine } from '../../../src/audit/audit-line';
import { useAuditNames } from '../../../src/audit/use-audit-names';
import { VerifyChain } from '../../../src/audit/verify-chain';
import { paths } from '../../../src/paths';
import { CopyQuestionAs } from '../../../src/shared/copy-question';
import { ExportLinks } from '../../../src/shared/export-links';
import type { QuickFilter } from '../../../src/shared/list-search';
import { PageHeader } from '../../../src/shared/page-header';
import { SearchedPages } from '../../../src/shared/searched-pages';

const QUICK_FILTERS: readonly QuickFilter[] = [
  { label: 'All', filter: '' },
  { label: 'Done', filter: 'result=done' },
  { label: 'Refused', filter: 'result=refused' },
];

export default function AuditPage() {
  const forbidden = useForbidden()('audit:read');
  const isAllowed = useAllowed()('audit:read');
  if (!isAllowed) {
    return (
      <>
        <title>Audit · Holdfast</title>
        <PageHeader title="Audit" subtitle="Changes and refused changes with their actors, newest first." />
        <Panel title="All entries">
          {forbidden === undefined ? (
            <Skeleton />
          ) : (
            <Message title="You may not read the audit log" body={forbidden} />
          )}
        </Panel>
      </>
    );
  }
  return (
    <>
      <title>Audit · Holdfast</title>
      <PageHeader
        title="Audit"
        subtitle="Changes and refused changes with their actors, newest first. Entries form a chain that shows when one is changed or missing."
        actions={
          <>
            <ExportLinks path="/api/v1/audit/export" what="entries" />
            <CopyQuestionAs question={{ path: '/audit' }} isList hasFilter />
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <VerifyChain />
        <SearchedPages
          title="All entries"
          path={paths.audit}
          usePages={useAuditPages}
          what="the entries"
          searchLabel="Search the audit log"
          placeholder="A filter such as targetKind=volume"
          quickFilters={QUICK_FILTERS}
          none={<Message title="Nothing has been changed yet" />}
          noMatch={(showAll) => <Message title="No entry matches" action={showAll} />}
        >
          {(found) => <Entries entries={found} />}
        </SearchedPages>
      </div>
    </>
  );
}

function Entries({ entries }: { entries: readonly AuditEntry[] }) {
  const names = useAuditNames(entries);
  return (
    <ol>
      {entries.map((entry) => (
        <AuditLine key={entry.id} entry={entry} names={names} />
      ))}
    </ol>
  );
}
