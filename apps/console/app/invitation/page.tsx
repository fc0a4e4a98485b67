'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useEffect, useState } from 'react';
import { organizationApi } from '../../src/api/organization';
import { isProblem } from '../../src/api/problem';
import { AcceptForm } from '../../src/invitation/accept-form';
import { JoinForm } from '../../src/invitation/join-form';
import { paths } from '../../src/paths';
import { EntryFrame } from '../../src/shared/entry-frame';
import { invitationLink, takeInvitation } from '../../src/shared/kept-invitation';

/** Accepts an invitation: as the signed-in user, or with a new account. The link's secret is after the hash sign. */
export default function InvitationPage() {
  const router = useRouter();
  const queryClient = useQueryClient();
  const [secret, setSecret] = useState<string>();
  const [makesAccount, setMakesAccount] = useState(false);

  useEffect(() => {
    const named = window.location.hash.slice(1);
    const found = named === '' ? takeInvitation(window.sessionStorage) : named;
    // So that the page can be loaded again.
    if (named === '' && found !== '') window.history.replaceState(null, '', invitationLink(found));
    setSecret(found);
  }, []);

  const { data: invitation, error } = useQuery({
    queryKey: ['invitation', secret],
    queryFn: () => organizationApi.readInvitation(secret ?? ''),
    enabled: secret !== undefined && secret !== '',
    retry: false,
  });
  const { data: me, isPending } = useQuery({
    queryKey: ['who-am-i'],
    queryFn: organizationApi.whoAmI,
    retry: false,
  });

  if (secret === '' || error !== null) {
    const detail = isProblem(error) ? error.detail : 'There was no answer. The API may be restarting.';
    return (
      <EntryFrame
        title="Invitation"
        subtitle="It can't be accepted."
        error={secret === '' ? 'The link has no secret: copy all of it.' : detail}
        onSubmit={(event) => event.preventDefault()}
        note={<a href={paths.overview}>To the console</a>}
      >
        {null}
      </EntryFrame>
    );
  }
  if (secret === undefined || invitation === undefined || isPending) return null;

  async function enter(organizationId: string) {
    await organizationApi.switchTo(organizationId);
    queryClient.clear();
    router.replace(paths.overview);
  }

  const form = { secret, invitation, onJoined: enter };
  return makesAccount ? (
    <AcceptForm {...form} onBack={() => setMakesAccount(false)} />
  ) : (
    <JoinForm {...form} email={me?.email} onNewAccount={() => setMakesAccount(true)} />
  );
}
