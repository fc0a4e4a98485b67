'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { TextField } from '@holdfast/ui/field.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { Table } from '@holdfast/ui/table.js';
import { useState } from 'react';
import { usePermissions } from '../../../../src/api/use-access';
import { sentence } from '../../../../src/sentence';
import { Loaded } from '../../../../src/shared/loaded';

/** Every action with whether the user may do it, why or why not, and what would change that. */
export default function PermissionsPage() {
  const permissions = usePermissions();
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  return (
    <>
      <div className="w-full sm:w-80">
        <TextField
          label="Search actions"
          type="search"
          placeholder="drain, quota, webhook"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      </div>
      <Panel title="What may I do" hint="By the same rules that the API refuses by" flush>
        <Loaded query={permissions} what="the permissions" rows={8}>
          {({ permissions: all }) => (
            <Table
              label="Permissions"
              rows={all.filter(({ action, allows }) => `${action} ${allows}`.toLowerCase().includes(wanted))}
              rowKey={({ action }) => action}
              empty={<Message title="No action matches" />}
              columns={[
                {
                  header: 'Action',
                  className: 'py-1.5',
                  cell: ({ action, allows }) => (
                    <span>
                      <span className="block">{sentence(allows)}</span>
                      <code className="font-mono text-xs text-muted">{action}</code>
                    </span>
                  ),
                },
                {
                  header: 'You may',
                  cell: ({ isAllowed, projectIds }) => (
                    <Badge tone={isAllowed ? 'good' : 'idle'}>{mayWord(isAllowed, projectIds)}</Badge>
                  ),
                },
                {
                  header: 'Why',
                  className: 'py-1.5',
                  cell: ({ why, cures }) => (
                    <span>
                      <span className="block">{sentence(why)}</span>
                      {cures.length > 0 && (
                        <span className="block text-xs text-muted">{cures.map(sentence).join(' ')}</span>
                      )}
                    </span>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Panel>
    </>
  );
}

function mayWord(isAllowed: boolean, projectIds: readonly string[] | null): string {
  if (!isAllowed) return 'No';
  if (projectIds === null) return 'Yes';
  return projectIds.length === 1 ? 'In one project' : `In ${projectIds.length} projects`;
}
