'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { usePathname } from 'next/navigation';
import { useState } from 'react';
import { organizationApi } from '../api/organization';
import { useForbidden } from '../api/use-access';
import { useWhoAmI } from '../api/use-who-am-i';
import { AddClusterButton } from '../shared/add-cluster';
import { CopyQuestionAs } from '../shared/copy-question';
import { PageHeader } from '../shared/page-header';
import { FormDialog } from './form-dialog';
import { textIn } from './role-field';
import { tabQuestion } from './tab-question';

/** Whose cluster this is, who one is in it, and its name. */
export function OrganizationHeader() {
  const { data } = useWhoAmI();
  const pathname = usePathname();
  const asks = data === undefined ? undefined : tabQuestion(pathname, data.organizationId);
  const forbidden = useForbidden()('organization:write');
  const [asked, setAsked] = useState<'rename' | 'create'>();
  const close = () => setAsked(undefined);
  return (
    <>
      <title>Organization · Holdfast</title>
      <PageHeader
        title={data?.organizationName ?? 'Organization'}
        subtitle={
          data === undefined ? 'Members, and their permissions.' : `You are ${data.email}, ${data.role} here.`
        }
        actions={
          <>
            <Button disabledReason={forbidden} onClick={() => setAsked('rename')}>
              Rename…
            </Button>
            <Button disabledReason={forbidden} onClick={() => setAsked('create')}>
              New organization…
            </Button>
            <AddClusterButton />
            {asks !== undefined && <CopyQuestionAs {...asks} />}
          </>
        }
      />
      {asked === 'rename' && data !== undefined && (
        <FormDialog
          title={`Rename ${data.organizationName}`}
          description="Ids stay, and so does everything that is in it."
          submitLabel="Rename"
          done="The organization is renamed."
          run={(form) => organizationApi.rename(data.organizationId, textIn(form, 'name'))}
          onClose={close}
        >
          {(errorAt) => (
            <TextField
              label="Name"
              name="name"
              required
              defaultValue={data.organizationName}
              error={errorAt('/name')}
            />
          )}
        </FormDialog>
      )}
      {asked === 'create' && (
        <FormDialog
          title="New organization"
          description="You become its owner. A session sees one organization: switch to the new one at the head of the page to work in it."
          submitLabel="Create"
          done="The organization is created."
          run={(form) => organizationApi.create(textIn(form, 'name'))}
          onClose={close}
        >
          {(errorAt) => <TextField label="Name" name="name" required error={errorAt('/name')} />}
        </FormDialog>
      )}
    </>
  );
}
