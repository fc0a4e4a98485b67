'use client';
import type { ReactNode } from 'react';
import { useLive } from '../api/live/use-live';
import { SilentNodesProvider } from '../api/silent-nodes';
import { useCluster } from '../api/use-cluster';
import { FreshnessProvider } from '../shared/freshness';
import { Logo } from '../shared/logo';
import { AccountMenu } from './account-menu';
import { ClusterSwitch } from './cluster-switch';
import { CutBanner } from './cut-banner';
import { LiveBadge } from './live-badge';
import { Navigation } from './navigation';
import { OrganizationSwitch } from './organization-switch';
import { Shortcuts } from './shortcuts';

/** The frame around every page: navigation, the cluster, and freshness. */
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
        <aside className="relative flex border-border bg-raised lg:sticky lg:top-0 lg:h-screen lg:flex-col lg:border-r max-lg:items-center max-lg:gap-3 max-lg:border-b max-lg:px-3">
          <div className="flex items-center gap-2.5 px-1 py-3 lg:px-4 lg:py-4">
            <Logo />
            <div className="leading-tight max-sm:hidden">
              <p className="text-sm font-semibold">Holdfast</p>
              <OrganizationSwitch />
              <ClusterSwitch />
            </div>
          </div>
          <div className="lg:px-3 lg:pb-2">
            <Shortcuts />
          </div>
          <Navigation>
            <OrganizationSwitch />
            <ClusterSwitch />
          </Navigation>
          <div className="flex items-center gap-2 lg:mt-auto lg:flex-col lg:items-stretch lg:gap-3 lg:border-t lg:border-border lg:p-4 max-lg:ml-auto">
            <LiveBadge />
            <AccountMenu />
          </div>
        </aside>
        <div className="min-w-0">
          <CutBanner />
          {/* Room below the end: a note that stays must not lie on the last button. */}
          <main
            id="main"
            tabIndex={-1}
            className="mx-auto w-full max-w-[84rem] px-4 pt-5 pb-28 outline-none lg:px-7"
          >
            <SilentNodesProvider>{children}</SilentNodesProvider>
          </main>
        </div>
      </div>
    </FreshnessProvider>
  );
}
