'use client';
import { Skeleton } from '@holdfast/ui/message.js';
import { useRouter } from 'next/navigation';
import { type ReactNode, useCallback } from 'react';
import { ClusterProvider } from '../../src/api/use-cluster';
import { ProblemMessage } from '../../src/parts/problem-message';
import { Shell } from '../../src/parts/shell';
import { paths } from '../../src/paths';

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
