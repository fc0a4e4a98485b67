'use client';
import { clsx } from 'clsx';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import type { ReactNode } from 'react';
import { useCluster } from '../api/use-cluster';
import { useLive } from '../api/use-live';
import { paths } from '../paths';
import { FreshnessProvider } from '../shared/freshness';
import { Logo } from '../shared/logo';
import { LiveBadge } from './live-badge';
import { PLACES } from './places';
import { SessionMenu } from './session-menu';
import { Shortcuts } from './shortcuts';

/** The frame around every page: where one can go, which cluster this is, and how fresh what one sees is. */
export function Shell({ children }: { children: ReactNode }) {
  const cluster = useCluster();
  const live = useLive(cluster.id);
  return (
    <FreshnessProvider live={live}>
      <div className="min-h-screen lg:grid lg:grid-cols-[13.5rem_1fr]">
        <a
          href="#main"
          className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:bg-raised focus:px-3 focus:py-2"
        >
          Skip to content
        </a>
        <aside className="flex border-border bg-raised lg:sticky lg:top-0 lg:h-screen lg:flex-col lg:border-r max-lg:items-center max-lg:gap-3 max-lg:border-b max-lg:px-3">
          <div className="flex items-center gap-2.5 px-1 py-3 lg:px-4 lg:py-4">
            <Logo />
            <div className="leading-tight max-sm:hidden">
              <p className="text-sm font-semibold">Holdfast</p>
              <p className="text-xs text-muted">cluster {cluster.name}</p>
            </div>
          </div>
          <div className="lg:px-3 lg:pb-2">
            <Shortcuts />
          </div>
          <Navigation />
          <div className="flex items-center gap-2 lg:mt-auto lg:flex-col lg:items-stretch lg:gap-3 lg:border-t lg:border-border lg:p-4 max-lg:ml-auto">
            <LiveBadge />
            <SessionMenu />
          </div>
        </aside>
        <main id="main" tabIndex={-1} className="mx-auto w-full max-w-[84rem] px-4 py-5 outline-none lg:px-7">
          {children}
        </main>
      </div>
    </FreshnessProvider>
  );
}

function Navigation() {
  const pathname = usePathname();
  return (
    <nav aria-label="Pages" className="flex gap-0.5 overflow-x-auto lg:flex-col lg:px-2">
      {PLACES.map(({ href, label, icon: Icon }) => {
        const current = href === paths.overview ? pathname === href : pathname.startsWith(href);
        return (
          <Link
            key={href}
            href={href}
            aria-current={current ? 'page' : undefined}
            aria-label={label}
            className={clsx(
              'flex h-9 items-center gap-2.5 rounded-md px-2.5 text-sm',
              current ? 'bg-hover font-medium text-text' : 'text-muted hover:bg-hover hover:text-text',
            )}
          >
            <Icon aria-hidden size={16} className={clsx(current && 'text-accent')} />
            <span className="max-lg:hidden">{label}</span>
          </Link>
        );
      })}
    </nav>
  );
}
