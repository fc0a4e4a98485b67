'use client';
import { decideRoleChange } from '@holdfast/access/decide-membership.js';
import type { OrganizationRole } from '@holdfast/access/permissions.js';
import { Button } from '@holdfast/ui/button.js';
import { Moment } from '@holdfast/ui/moment.js';
import type { Column } from '@holdfast/ui/table.js';
import { useState } from 'react';
import { reasonOf } from '../actions';
import { type Member, organizationApi } from '../api/organization';
import { useForbidden } from '../api/use-access';
import { useWhoAmI } from '../api/use-who-am-i';
import { ConfirmButton } from './confirm-button';
import { FormDialog } from './form-dialog';
import { ListPanel, useOrganizationList } from './list-panel';
import { RoleField, roleIn } from './role-field';

/** Members with their roles, which those who may can change. */
export function MembersPanel() {
  const members = useOrganizationList('members', organizationApi.members);
  const forbidden = useForbidden()('member:write');
  const byRole = useWhoAmI().data?.role ?? 'member';
  const [changed, setChanged] = useState<Member>();
  const owners = (members.data ?? []).filter(({ role }) => role === 'owner').length;

  /** By the same rule as in the API. */
  function refusal(member: Member, after: OrganizationRole | undefined): string | undefined {
    const otherOwners = owners - (member.role === 'owner' ? 1 : 0);
    const { role: before, isServiceAccount, isManaged } = member;
    const change = { byRole, before, after, otherOwners, isServiceAccount, isManaged };
    return forbidden ?? reasonOf(decideRoleChange(change));
  }

  const columns: Column<Member>[] = [
    { header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span> },
    {
      header: 'E-mail',
      cell: ({ email, isServiceAccount, isManaged }) => (
        <span className="break-all text-muted">
          {isServiceAccount ? 'service account' : `${email}${isManaged ? ', by the sign-in provider' : ''}`}
        </span>
      ),
    },
    { header: 'Role', cell: ({ role }) => role },
    { header: 'Since', cell: ({ createdAt }) => <Moment at={createdAt} /> },
    {
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: (member) => (
        <>
          <Button
            variant="ghost"
            aria-label={`Change role of ${member.name}`}
            disabledReason={refusal(member, member.role === 'admin' ? 'viewer' : 'admin')}
            onClick={() => setChanged(member)}
          >
            Role…
          </Button>
          <ConfirmButton
            label="Remove"
            of={member.name}
            question={`Remove ${member.name}?`}
            consequence="Their sessions and tokens end at once. Objects that they made stay."
            done={`${member.name} is removed.`}
            disabledReason={refusal(member, undefined)}
            run={() => organizationApi.removeMember(member.userId)}
          />
        </>
      ),
    },
  ];
  return (
    <>
      <ListPanel
        title="Members"
        query={members}
        what="the members"
        columns={columns}
        rowKey={({ userId }) => userId}
        empty={{ title: 'No members' }}
      />
      {changed !== undefined && (
        <FormDialog
          title={`Role of ${changed.name}`}
          description="It holds in the whole organization. Roles in single projects stay as they are."
          submitLabel="Change role"
          done={`The role of ${changed.name} is changed.`}
          run={(form) => organizationApi.setRole(changed.userId, roleIn(form))}
          onClose={() => setChanged(undefined)}
        >
          {(errorAt) => <RoleField value={changed.role} error={errorAt('/role')} />}
        </FormDialog>
      )}
    </>
  );
}
