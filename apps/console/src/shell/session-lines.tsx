'use client';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeftRight, LogOut, SunMoon } from 'lucide-react';
import { useTheme } from 'next-themes';
import { organizationApi } from '../api/organization';
import { useClusterChoice } from '../api/use-cluster';
import { useWhoAmI } from '../api/use-who-am-i';
import { paths } from '../paths';
import { MenuLine, useChoosing } from './menu-line';
import { useSwitchOrganization } from './organization-switch';
import { useSignOut } from './use-sign-out';

/** Clusters other than the shown one; the switch beside each page has all. */
const SHOWN_MAX = 20;

/** Actions on the session: another cluster or organization, the theme, and its end. */
export function SessionLines() {
  const { choose, go } = useChoosing();
  const { resolvedTheme, setTheme } = useTheme();
  const { cluster, clusters, choose: show } = useClusterChoice();
  const own = useQuery({ queryKey: ['organization', 'own'], queryFn: organizationApi.own });
  const current = useWhoAmI().data?.organizationId;
  const change = useSwitchOrganization();
  const signOut = useSignOut();
  const theme = resolvedTheme === 'dark' ? 'light' : 'dark';

  return (
    <>
      {clusters
        .filter(({ id }) => id !== cluster.id)
        .slice(0, SHOWN_MAX)
        .map(({ id, name }) => (
          <MenuLine
            key={id}
            value={`Switch to cluster ${name} ${id}`}
            icon={ArrowLeftRight}
            onSelect={() => {
              show(id);
              // Open dialogs belong to the previous cluster.
              go(paths.overview);
            }}
          >
            Switch to cluster {name}
          </MenuLine>
        ))}
      {(own.data ?? [])
        .filter(({ id }) => current !== undefined && id !== current)
        .slice(0, SHOWN_MAX)
        .map(({ id, name }) => (
          <MenuLine
            key={id}
            value={`Switch to organization ${name} ${id}`}
            icon={ArrowLeftRight}
            onSelect={() => choose(() => change.mutate(id))}
          >
            Switch to organization {name}
          </MenuLine>
        ))}
      <MenuLine
        value={`Switch to the ${theme} theme`}
        icon={SunMoon}
        onSelect={() => choose(() => setTheme(theme))}
      >
        Switch to the {theme} theme
      </MenuLine>
      <MenuLine value="Sign out" icon={LogOut} onSelect={() => choose(() => void signOut())}>
        Sign out
      </MenuLine>
    </>
  );
}
