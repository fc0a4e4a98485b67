'use client';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { Download } from 'lucide-react';
import { Suspense } from 'react';
import { useAuditPages } from '../../../src/api/queries';
import { AuditLine } from '../../../src/audit/audit-line';
import { VerifyChain } from '../../../src/audit/verify-chain';
import { paths } from '../../../src/paths';
import { ListSearch, type QuickFilter } from '../../../src/shared/list-search';
import { PageHeader } from '../../../src/shared/page-header';
import { Paged } from '../../../src/shared/paged';
import { useSearchText } from '../../../src/shared/use-search-text';

const QUICK_FILTERS: readonly QuickFilter[] = [
  { label: 'All', filter: '' },
  { label: 'Done', filter: 'result=done' },
  { label: 'Refused', filter: 'result=refused' },
];

export default function AuditPage() {
  return (
    <>
      <title>Audit · Holdfast</title>
      <PageHeader
        title="Audit"
        subtitle="Who changed what, or was refused it, newest first. Entries form a chain that shows when one is changed or gone."
        actions={
          <a
            href="/api/v1/audit/export?format=csv"
            download
            className="inline-flex h-8 items-center gap-2 rounded-md border border-border-strong px-3 text-sm hover:bg-hover"
          >
            <Download aria-hidden size={15} /> Export as CSV
          </a>
        }
      />
      <div className="flex flex-col gap-4">
        <VerifyChain />
        <Suspense>
          <Entries />
        </Suspense>
      </div>
    </>
  );
}

function Entries() {
  const [text, search] = useSearchText(paths.audit);
  const entries = useAuditPages(text.trim());
  const empty = (
    <Message
      title={text === '' ? 'Nothing has been changed yet' : 'No entry matches'}
      action={text === '' ? undefined : <Button onClick={() => search('')}>Show all</Button>}
    />
  );
  return (
    <Panel title="All entries" flush>
      <ListSearch
        label="Search the audit log"
        placeholder="A filter such as targetKind=volume"
        quickFilters={QUICK_FILTERS}
        text={text}
        onText={search}
      />
      <Paged query={entries} what="the entries" rows={8} empty={empty}>
        {(found) => (
          <ol>
            {found.map((entry) => (
              <AuditLine key={entry.id} entry={entry} />
            ))}
          </ol>
        )}
      </Paged>
    </Panel>
  );
}
