'use client';
import { Skeleton } from '@holdfast/ui/message.js';
import { useRouter } from 'next/navigation';
import { type ReactNode, useCallback } from 'react';
import { ClusterProvider } from '../../src/api/use-cluster';
import { paths } from '../../src/paths';
import { ProblemMessage } from '../../src/shared/problem-message';
import { Shell } from '../../src/shell/shell';

export default function ConsoleLayout({ children }: { children: ReactNode }) {
  const router = useRouter();
  const signedOut = useCallback(() => router.replace(paths.signIn), [router]);
  return (
    <ClusterProvider
      signedOut={signedOut}
      loading={<Skeleton rows={5} />}
      problem={(error, retry) => <ProblemMessage error={error} retry={retry} what="the cluster" />}
    >
      <Shell>{children}</Shell>
    </ClusterProvider>
  );
}
