'use client';
import type { Action } from '@holdfast/access/permissions.js';
import { useQuery } from '@tanstack/react-query';
import { sentence } from '../sentence';
import { ask, client } from './client';

/** Roles change rarely, and the API refuses in any case. */
const FRESH_MS = 60_000;

/** @param projectId asks about what is in this project; left out: anywhere in the organization */
export function usePermissions(projectId?: string) {
  const query = projectId === undefined ? {} : { projectId };
  return useQuery({
    queryKey: ['permissions', projectId ?? ''],
    queryFn: () => ask(client.GET('/api/v1/me/permissions', { params: { query } })),
    staleTime: FRESH_MS,
  });
}

/**
 * Reason why the user may not do something, as the API gives it of the table of roles. `undefined`: the user may, or it is not known
 * yet, and the API will judge.
 *
 * @param projectId of what it is done to, such as a volume: a role in another project does not count there
 */
export function useForbidden(projectId?: string): (action: Action) => string | undefined {
  const { data } = usePermissions(projectId);
  return (action) => {
    const access = data?.permissions.find((one) => one.action === action);
    if (access === undefined || access.isAllowed) return undefined;
    return [access.why, ...access.cures].map(sentence).join(' ');
  };
}

/** Is it known that the user may? For what a page asks of itself, which the API would else refuse before the rights are read. */
export function useAllowed(): (action: Action) => boolean {
  const { data, isError } = usePermissions();
  // Without an answer about rights the API judges.
  return (action) =>
    isError || data?.permissions.some((one) => one.action === action && one.isAllowed) === true;
}
