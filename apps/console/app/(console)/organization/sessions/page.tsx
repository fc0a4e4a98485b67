'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Moment } from '@holdfast/ui/moment.js';
import type { Column } from '@holdfast/ui/table.js';
import { credentialsApi, type Token } from '../../../../src/api/credentials';
import { useWhoAmI } from '../../../../src/api/use-who-am-i';
import { browserWords } from '../../../../src/organization/browser-words';
import { ConfirmButton } from '../../../../src/organization/confirm-button';
import { ListPanel, useOrganizationList } from '../../../../src/organization/list-panel';
import { ENDS, LAST_USED } from '../../../../src/organization/token-columns';

/** Where the user is signed in. */
export default function SessionsPage() {
  const sessions = useOrganizationList('sessions', credentialsApi.sessions);
  const current = useWhoAmI().data?.tokenId;
  const columns: Column<Token>[] = [
    {
      header: 'From',
      cell: ({ id, madeFrom }) => (
        <span className="flex flex-wrap items-center gap-2">
          <span className="max-w-96 truncate max-sm:whitespace-normal" title={madeFrom}>
            {madeFrom === '' ? 'Not known' : browserWords(madeFrom)}
          </span>
          {id === current && <Badge tone="good">This one</Badge>}
        </span>
      ),
    },
    { header: 'Signed in', cell: ({ createdAt }) => <Moment at={createdAt} /> },
    LAST_USED,
    ENDS,
    {
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: ({ id, madeFrom }) => (
        <ConfirmButton
          label="End"
          of={`the session from ${browserWords(madeFrom)}`}
          question="End this session?"
          consequence="Whoever uses it has to sign in again."
          done="The session has ended."
          disabledReason={id === current ? 'This is the session that you use: sign out instead.' : undefined}
          run={() => credentialsApi.endSession(id)}
        />
      ),
    },
  ];
  return (
    <ListPanel
      title="Sessions"
      hint="Where you are signed in"
      query={sessions}
      what="the sessions"
      columns={columns}
      rowKey={({ id }) => id}
      empty={{ title: 'No sessions' }}
    />
  );
}
