'use client';
import { Button } from '@holdfast/ui/button.js';

import { TextField } from '@holdfast/ui/field.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type SignInProvider, signInProviderApi } from '../api/sign-in-provider';
import { useForbidden } from '../api/use-access';
import { Loaded } from '../shared/loaded';
import { ConfirmButton } from './confirm-button';
import { FormDialog } from './form-dialog';
import { RoleField, roleIn, textIn } from './role-field';

type Props = { organizationId: string; organizationName: string };

/** The organization's own OpenID provider, and the values to configure there. */
export function SignInProviderPanel({ organizationId, organizationName }: Props) {
  const provider = useQuery({
    queryKey: ['organization', 'sign-in-provider', organizationId],
    queryFn: () => signInProviderApi.find(organizationId),
  });
  const forbidden = useForbidden()('sign-in-provider:write');
  const [isAsked, setAsked] = useState(false);
  return (
    <Panel
      title="Sign-in provider"
      flush
      aside={
        <Button disabledReason={forbidden} onClick={() => setAsked(true)}>
          Set provider…
        </Button>
      }
    >
      <Loaded query={provider} what="the sign-in provider" rows={4}>
        {(data) => (
          <>
            {data === null ? (
              <Message
                title="No sign-in provider"
                body="Users sign in with passwords. An OpenID provider of yours can vouch for them instead."
              />
            ) : (
              <ProviderFacts provider={data} organizationName={organizationName} forbidden={forbidden} />
            )}
            {isAsked && (
              <ProviderDialog
                organizationId={organizationId}
                provider={data}
                onClose={() => setAsked(false)}
              />
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

type FactsProps = { provider: SignInProvider; organizationName: string; forbidden: string | undefined };

function ProviderFacts({ provider, organizationName, forbidden }: FactsProps) {
  const { organizationId, issuer, clientId, domains, defaultRole, callbackPath } = provider;
  const facts = [
    ['Issuer', issuer],
    ['Client', clientId],
    ['E-mail domains', domains.join(', ')],
    ['Role at first', defaultRole],
    ['Redirect address, for the provider', `${window.location.origin}${callbackPath}`],
    ['Users sign in to', organizationName],
  ];
  return (
    <>
      <dl>
        {facts.map(([name, value]) => (
          <div
            key={name}
            className="grid gap-x-4 border-b border-border px-4 py-2 text-sm sm:grid-cols-[16rem_1fr]"
          >
            <dt className="text-muted">{name}</dt>
            <dd className="break-all">{value}</dd>
          </div>
        ))}
      </dl>
      <div className="flex justify-end px-4 py-2">
        <ConfirmButton
          label="Delete"
          of="the sign-in provider"
          question="Delete the sign-in provider?"
          consequence="Its users are signed out and can not sign in again. They stay members until they are removed."
          done="The sign-in provider is deleted."
          disabledReason={forbidden}
          run={() => signInProviderApi.remove(organizationId)}
        />
      </div>
    </>
  );
}

type DialogProps = { organizationId: string; provider: SignInProvider | null; onClose: () => void };

function ProviderDialog({ organizationId, provider, onClose }: DialogProps) {
  return (
    <FormDialog
      title="Sign-in provider"
      description={`Register this redirect address there: ${window.location.origin}/api/v1/oidc/callback/${organizationId}`}
      submitLabel="Set provider"
      done="The sign-in provider is set."
      run={(form) => signInProviderApi.set(organizationId, bodyOf(form))}
      onClose={onClose}
    >
      {(errorAt) => (
        <>
          <TextField
            label="Issuer"
            name="issuer"
            type="url"
            required
            placeholder="https://id.example.com"
            defaultValue={provider?.issuer}
            error={errorAt('/issuer')}
          />
          <TextField
            label="Client id"
            name="clientId"
            required
            defaultValue={provider?.clientId}
            error={errorAt('/clientId')}
          />
          <TextField
            label="Client secret"
            name="clientSecret"
            type="password"
            autoComplete="off"
            required={provider === null}
            hint={provider === null ? undefined : 'Empty: as it is. Another issuer needs another one.'}
            error={errorAt('/clientSecret')}
          />
          <TextField
            label="E-mail domains"
            name="domains"
            required
            placeholder="example.com, example.org"
            hint="Of the addresses that may sign in."
            defaultValue={provider?.domains.join(', ')}
            error={errorAt('/domains') ?? errorAt('/domains/0')}
          />
          <RoleField
            value={provider?.defaultRole ?? 'viewer'}
            without="owner"
            error={errorAt('/defaultRole')}
          />
        </>
      )}
    </FormDialog>
  );
}

function bodyOf(form: FormData) {
  const role = roleIn(form);
  const secret = String(form.get('clientSecret') ?? '');
  return {
    issuer: textIn(form, 'issuer'),
    clientId: textIn(form, 'clientId'),
    domains: textIn(form, 'domains')
      .split(/[\s,]+/)
      .filter((part) => part !== ''),
    // The field leaves owners out.
    defaultRole: role === 'owner' ? 'admin' : role,
    ...(secret === '' ? {} : { clientSecret: secret }),
  } as const;
}
