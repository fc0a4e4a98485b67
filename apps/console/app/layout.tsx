import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import { Providers } from '../src/providers';
import './globals.css';

export const metadata: Metadata = {
  title: { default: 'Holdfast', template: '%s · Holdfast' },
  description: 'Replicated block volumes: what is at risk, when it will be safe, what is running out.',
};

export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    <html lang="en" suppressHydrationWarning>
      <body>
        <Providers>{children}</Providers>
      </body>
    </html>
  );
}
