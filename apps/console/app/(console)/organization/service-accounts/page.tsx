'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import type { Column } from '@holdfast/ui/table.js';
import { useState } from 'react';
import { credentialsApi } from '../../../../src/api/credentials';
import { organizationApi, type ServiceAccount } from '../../../../src/api/organization';
import { useForbidden } from '../../../../src/api/use-access';
import { ConfirmButton } from '../../../../src/organization/confirm-button';
import { FormDialog } from '../../../../src/organization/form-dialog';
import { ListPanel, useOrganizationList } from '../../../../src/organization/list-panel';
import { RoleField, roleIn, textIn } from '../../../../src/organization/role-field';
import { type Secret, SecretDialog } from '../../../../src/organization/secret-dialog';
import { LAST_USED } from '../../../../src/organization/token-columns';
import { TokenDialog } from '../../../../src/organization/token-dialog';

/** Members that are programs: they have tokens, and never sign in. */
export default function ServiceAccountsPage() {
  const accounts = useOrganizationList('service-accounts', organizationApi.accounts);
  const forbidden = useForbidden()('member:write');
  const [isAsked, setAsked] = useState(false);
  const [tokenFor, setTokenFor] = useState<ServiceAccount>();
  const [secret, setSecret] = useState<Secret>();
  const columns: Column<ServiceAccount>[] = [
    { header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span> },
    { header: 'Role', cell: ({ role }) => role },
    {
      header: 'State',
      cell: ({ isDisabled }) => (
        <Badge tone={isDisabled ? 'idle' : 'good'} quiet>
          {isDisabled ? 'Disabled' : 'Enabled'}
        </Badge>
      ),
    },
    { header: 'Tokens', align: 'right', cell: ({ tokens }) => tokens },
    LAST_USED,
    {
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: (account) => (
        <>
          <Button
            variant="ghost"
            aria-label={`New token of ${account.name}`}
            disabledReason={forbidden}
            onClick={() => setTokenFor(account)}
          >
            New token…
          </Button>
          <ConfirmButton {...switchOf(account)} of={account.name} disabledReason={forbidden} />
          <ConfirmButton
            label="Delete"
            of={account.name}
            question={`Delete ${account.name}?`}
            consequence="Its tokens are refused at once. Objects that it made stay."
            done={`${account.name} is deleted.`}
            disabledReason={forbidden}
            run={() => organizationApi.deleteAccount(account.id)}
          />
        </>
      ),
    },
  ];
  return (
    <>
      <ListPanel
        title="Service accounts"
        hint="Members that are programs: they have tokens, and never sign in"
        query={accounts}
        what="the service accounts"
        columns={columns}
        rowKey={({ id }) => id}
        empty={{
          title: 'No service accounts yet',
          body: 'Tokens of a service account outlive the users who made them.',
        }}
        aside={
          <Button variant="primary" disabledReason={forbidden} onClick={() => setAsked(true)}>
            New service account…
          </Button>
        }
      />
      {isAsked && (
        <FormDialog
          title="New service account"
          description="Its tokens never allow more than its role."
          submitLabel="Create"
          done="The service account is created."
          run={(form) => organizationApi.createAccount(textIn(form, 'name'), roleIn(form))}
          onClose={() => setAsked(false)}
        >
          {(errorAt) => (
            <>
              <TextField label="Name" name="name" required error={errorAt('/name')} />
              <RoleField without="owner" error={errorAt('/role')} />
            </>
          )}
        </FormDialog>
      )}
      {tokenFor !== undefined && (
        <TokenDialog
          title={`New token of ${tokenFor.name}`}
          description={`It never allows more than the role ${tokenFor.role}.`}
          create={(wish) => credentialsApi.createAccountToken(tokenFor.id, wish)}
          onSecret={setSecret}
          onClose={() => setTokenFor(undefined)}
        />
      )}
      <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </>
  );
}

function switchOf({ id, name, isDisabled }: ServiceAccount) {
  return isDisabled
    ? {
        label: 'Enable',
        question: `Enable ${name}?`,
        consequence: 'Its tokens work again.',
        done: `${name} is enabled.`,
        run: () => organizationApi.changeAccount(id, { isDisabled: false }),
      }
    : {
        label: 'Disable',
        question: `Disable ${name}?`,
        consequence: 'Its tokens are refused at once, until it is enabled again.',
        done: `${name} is disabled.`,
        run: () => organizationApi.changeAccount(id, { isDisabled: true }),
      };
}
