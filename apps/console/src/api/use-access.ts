'use client';
import type { Action } from '@holdfast/access/permissions.js';
import { useQuery } from '@tanstack/react-query';
import { sentence } from '../sentence';
import { ask, client } from './client';

/** Roles change rarely, and the API refuses in any case. */
const FRESH_MS = 60_000;

/** @param projectId for objects in this project; left out: anywhere in the organization */
export function usePermissions(projectId?: string) {
  const query = projectId === undefined ? {} : { projectId };
  return useQuery({
    queryKey: ['permissions', projectId ?? ''],
    queryFn: () => ask(client.GET('/api/v1/me/permissions', { params: { query } })),
    staleTime: FRESH_MS,
  });
}

/**
 * Reason why the user may not do something, from the API's table of roles. `undefined`: allowed, or unknown yet, and the API will
 * judge.
 *
 * @param projectId project of the object, such as a volume: a role in another project does not count there
 */
export function useForbidden(projectId?: string): (action: Action) => string | undefined {
  const { data } = usePermissions(projectId);
  return (action) => {
    const access = data?.permissions.find((one) => one.action === action);
    if (access === undefined || access.isAllowed) return undefined;
    return [access.why, ...access.cures].map(sentence).join(' ');
  };
}

/**
 * True if the user is known to be allowed. For a page's own reads, which the API would otherwise refuse before the rights are read.
 */
export function useAllowed(): (action: Action) => boolean {
  const { data, isError } = usePermissions();
  // Without an answer about rights the API judges.
  return (action) =>
    isError || data?.permissions.some((one) => one.action === action && one.isAllowed) === true;
}
