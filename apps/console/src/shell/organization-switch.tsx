'use client';
import { useQuery } from '@tanstack/react-query';
import { organizationApi } from '../api/organization';
import { useWhoAmI } from '../api/use-who-am-i';
import { paths } from '../paths';
import { useAction } from '../shared/use-action';

/** Has the session see another organization. */
export function useSwitchOrganization() {
  return useAction({
    run: organizationApi.switchTo,
    done: 'shown',
    refusal: 'noted',
    stale: [],
    // Loaded anew: what this page has read belongs to the organization before.
    onDone: () => window.location.assign(paths.overview),
  });
}

/** The way to another organization, for a user who belongs to several. Nothing for others. */
export function OrganizationSwitch() {
  const own = useQuery({ queryKey: ['organization', 'own'], queryFn: organizationApi.own });
  const current = useWhoAmI().data?.organizationId;
  const change = useSwitchOrganization();
  if (current === undefined || own.data === undefined || own.data.length < 2) return null;
  return (
    <select
      aria-label="Organization"
      value={change.variables ?? current}
      disabled={change.isPending}
      onChange={(event) => change.mutate(event.target.value)}
      className="mb-1 block h-6 max-w-36 rounded border border-border bg-raised text-xs text-muted"
    >
      {own.data.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
