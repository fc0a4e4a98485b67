'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { api } from '../api/client';
import { paths } from '../paths';

/** Ends the session. */
export function useSignOut(): () => Promise<void> {
  const router = useRouter();
  const queryClient = useQueryClient();
  return async () => {
    // The session may have ended already; either way this browser forgets its data.
    await api.signOut().catch(() => undefined);
    queryClient.clear();
    router.replace(paths.signIn);
  };
}
