'use client';
import { Button } from '@holdfast/ui/button.js';
import { useQueryClient } from '@tanstack/react-query';
import { LogOut, Moon, Sun } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTheme } from 'next-themes';
import { api } from '../api/client';
import { paths } from '../paths';

/** Ends the session. */
export function useSignOut(): () => Promise<void> {
  const router = useRouter();
  const queryClient = useQueryClient();
  return async () => {
    // The session may have ended already; either way this browser forgets what it has seen.
    await api.signOut().catch(() => undefined);
    queryClient.clear();
    router.replace(paths.signIn);
  };
}

export function SessionMenu() {
  const { resolvedTheme, setTheme } = useTheme();
  const signOut = useSignOut();

  return (
    <div className="flex items-center gap-1">
      <Button
        variant="ghost"
        aria-label="Switch between light and dark"
        onClick={() => setTheme(resolvedTheme === 'dark' ? 'light' : 'dark')}
        className="px-2"
      >
        <Sun aria-hidden size={16} className="hidden dark-only:block" />
        <Moon aria-hidden size={16} className="dark-only:hidden" />
      </Button>
      <Button variant="ghost" onClick={signOut} className="flex-1 justify-start px-2">
        <LogOut aria-hidden size={15} /> <span className="max-sm:sr-only">Sign out</span>
      </Button>
    </div>
  );
}
