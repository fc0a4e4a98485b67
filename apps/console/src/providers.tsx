'use client';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { ThemeProvider } from 'next-themes';
import { type ReactNode, useState } from 'react';
import { isProblem } from './api/problem';
import { Notes } from './shared/notes';

/** Live events refresh what changed; this only bounds how old a page may get when they are cut. */
const STALE_MS = 10_000;
const RETRIES_MAX = 2;

function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        refetchOnWindowFocus: true,
        // Otherwise a browser that considers itself offline would send nothing and fail at nothing, and old data would be shown as
        // live.
        networkMode: 'always',
        // A refusal stays a refusal; only silence and server trouble are worth asking again.
        retry: (failures, error) => failures < RETRIES_MAX && !(isProblem(error) && error.status < 500),
      },
      // Likewise: an action is sent now or fails now, and is not kept to be sent unseen later.
      mutations: { networkMode: 'always' },
    },
  });
}

/** @param nonce lets the page run the script that sets the theme before the first paint */
export function Providers({ nonce, children }: { nonce: string | undefined; children: ReactNode }) {
  const [client] = useState(makeQueryClient);
  return (
    <ThemeProvider
      attribute="data-theme"
      defaultTheme="system"
      enableSystem
      disableTransitionOnChange
      {...(nonce === undefined ? {} : { nonce })}
    >
      <QueryClientProvider client={client}>
        {children}
        <Notes />
      </QueryClientProvider>
    </ThemeProvider>
  );
}
