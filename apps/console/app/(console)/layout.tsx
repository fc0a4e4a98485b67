'use client';
import { Skeleton } from '@holdfast/ui/message.js';
import { useRouter } from 'next/navigation';
import { type ReactNode, useCallback, useEffect } from 'react';
import { ClusterProvider } from '../../src/api/use-cluster';
import { invitationLink, takeInvitation } from '../../src/shared/kept-invitation';
import { ProblemMessage } from '../../src/shared/problem-message';
import { signInFor } from '../../src/shared/return-path';
import { NoCluster } from '../../src/shell/no-cluster';
import { Shell } from '../../src/shell/shell';

export default function ConsoleLayout({ children }: { children: ReactNode }) {
  const router = useRouter();
  // A provider has led back here from a sign-in that began at an invitation.
  useEffect(() => {
    const secret = takeInvitation(window.sessionStorage);
    if (secret !== '') router.replace(invitationLink(secret));
  }, [router]);
  const signedOut = useCallback(
    () => router.replace(signInFor(`${window.location.pathname}${window.location.search}`)),
    [router],
  );
  return (
    <ClusterProvider
      signedOut={signedOut}
      loading={<Skeleton rows={5} />}
      problem={(error, retry) =>
        error === null ? <NoCluster /> : <ProblemMessage error={error} retry={retry} what="the cluster" />
      }
    >
      <Shell>{children}</Shell>
    </ClusterProvider>
  );
}
