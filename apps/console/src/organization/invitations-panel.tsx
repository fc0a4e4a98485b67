'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { Moment } from '@holdfast/ui/moment.js';
import type { Column } from '@holdfast/ui/table.js';
import { useState } from 'react';
import { type Invitation, organizationApi } from '../api/organization';
import { useForbidden } from '../api/use-access';
import { invitationLink } from '../shared/kept-invitation';
import { Maker } from '../shared/maker';
import { ConfirmButton } from './confirm-button';
import { FormDialog } from './form-dialog';
import { ListPanel, useOrganizationList } from './list-panel';
import { RoleField, roleIn, textIn } from './role-field';
import { type Secret, SecretDialog } from './secret-dialog';

/** Invitations that wait, and the way to make one. */
export function InvitationsPanel() {
  const invitations = useOrganizationList('invitations', organizationApi.invitations);
  const forbidden = useForbidden()('member:write');
  const [isAsked, setAsked] = useState(false);
  const [secret, setSecret] = useState<Secret>();
  const columns: Column<Invitation>[] = [
    { header: 'E-mail', cell: ({ email }) => <span className="break-all font-medium">{email}</span> },
    { header: 'Role', cell: ({ role }) => role },
    { header: 'Made by', cell: ({ invitedBy }) => <Maker id={invitedBy} /> },
    { header: 'Made', cell: ({ createdAt }) => <Moment at={createdAt} /> },
    { header: 'Ends', cell: ({ expiresAt }) => <Moment at={expiresAt} coming /> },
    {
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: ({ id, email }) => (
        <ConfirmButton
          label="Withdraw"
          of={`the invitation of ${email}`}
          question={`Withdraw the invitation of ${email}?`}
          consequence="Its secret can no longer be used."
          done="The invitation is withdrawn."
          disabledReason={forbidden}
          run={() => organizationApi.withdraw(id)}
        />
      ),
    },
  ];
  return (
    <>
      <ListPanel
        title="Invitations"
        query={invitations}
        what="the invitations"
        path="/invitations"
        columns={columns}
        rowKey={({ id }) => id}
        empty={{ title: 'No invitation waits' }}
        aside={
          <Button variant="primary" disabledReason={forbidden} onClick={() => setAsked(true)}>
            Invite…
          </Button>
        }
      />
      {isAsked && (
        <FormDialog
          title="Invite a user"
          description="You get a link with a secret, by which the user joins."
          submitLabel="Invite"
          done="shown"
          run={(form) => organizationApi.invite(textIn(form, 'email'), roleIn(form))}
          onClose={() => setAsked(false)}
          onResult={({ email, secret: text }) =>
            setSecret({
              title: `${email} is invited`,
              use: 'Give this link to the user, who joins by it.',
              text: `${window.location.origin}${invitationLink(text)}`,
            })
          }
        >
          {(errorAt) => (
            <>
              <TextField label="E-mail" name="email" type="email" required error={errorAt('/email')} />
              <RoleField error={errorAt('/role')} />
            </>
          )}
        </FormDialog>
      )}
      <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </>
  );
}
