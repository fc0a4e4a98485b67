'use client';
import { Button } from '@holdfast/ui/button.js';
import type { Column } from '@holdfast/ui/table.js';
import { useState } from 'react';
import { credentialsApi, type Token } from '../../../../src/api/credentials';
import { useForbidden } from '../../../../src/api/use-access';
import { ConfirmButton } from '../../../../src/organization/confirm-button';
import { ListPanel, useOrganizationList } from '../../../../src/organization/list-panel';
import { type Secret, SecretDialog } from '../../../../src/organization/secret-dialog';
import { ENDS, LAST_USED } from '../../../../src/organization/token-columns';
import { TokenDialog, tokenSecret } from '../../../../src/organization/token-dialog';
import { useRotationRefusal } from '../../../../src/organization/use-rotation';
import { Maker } from '../../../../src/shared/maker';

/** Tokens for programs: what each may do, when it was used, and how long it lives. */
export default function TokensPage() {
  const tokens = useOrganizationList('tokens', credentialsApi.tokens);
  const forbidden = useForbidden()('token:own');
  const rotationRefusal = useRotationRefusal();
  const [isAsked, setAsked] = useState(false);
  const [secret, setSecret] = useState<Secret>();
  const columns: Column<Token>[] = [
    { header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span> },
    { header: 'May', cell: (token) => <span className="text-muted">{limitsWords(token)}</span> },
    { header: 'Made by', cell: ({ userId }) => <Maker id={userId} /> },
    LAST_USED,
    ENDS,
    {
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: (token) => (
        <>
          <ConfirmButton
            label="Rotate"
            of={token.name}
            question={`Rotate ${token.name}?`}
            consequence="You get a new secret; the one before stops working at once."
            done={`${token.name} has a new secret.`}
            disabledReason={rotationRefusal(token)}
            run={async () =>
              setSecret(tokenSecret(token.name, (await credentialsApi.rotateToken(token.id)).token))
            }
          />
          <ConfirmButton
            label="Revoke"
            of={token.name}
            question={`Revoke ${token.name}?`}
            consequence="Programs that use it, and tokens that were made with it, are refused at once."
            done={`${token.name} is revoked.`}
            disabledReason={forbidden}
            run={() => credentialsApi.revokeToken(token.id)}
          />
        </>
      ),
    },
  ];
  return (
    <>
      <ListPanel
        title="Tokens"
        hint="For programs; each is limited to its maker's permissions"
        query={tokens}
        what="the tokens"
        columns={columns}
        rowKey={({ id }) => id}
        empty={{ title: 'No tokens yet', body: 'A program needs one to call the API.' }}
        aside={
          <Button variant="primary" disabledReason={forbidden} onClick={() => setAsked(true)}>
            New token…
          </Button>
        }
      />
      {isAsked && (
        <TokenDialog
          title="New token"
          description="It never allows more than you may do yourself."
          create={credentialsApi.createToken}
          onSecret={setSecret}
          onClose={() => setAsked(false)}
        />
      )}
      <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </>
  );
}

function limitsWords({ role, readOnly, actions, addressRanges, clusterIds, projectIds }: Token): string {
  return [
    `${role}${readOnly ? ', reading only' : ''}`,
    ...(actions === null ? [] : [`${actions.length} actions`]),
    ...(clusterIds === null ? [] : [`${clusterIds.length} clusters`]),
    ...(projectIds === null ? [] : [`${projectIds.length} projects`]),
    ...(addressRanges === null ? [] : [`from ${addressRanges.join(', ')}`]),
  ].join(' · ');
}
