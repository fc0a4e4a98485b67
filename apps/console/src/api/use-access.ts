'use client';
import type { Action } from '@holdfast/core/policy/permissions.js';
import { useQuery } from '@tanstack/react-query';
import { sentence } from '../sentence';
import { ask, client } from './client';

/** Roles change rarely, and the API refuses in any case. */
const FRESH_MS = 60_000;

export function usePermissions() {
  return useQuery({
    queryKey: ['permissions'],
    queryFn: () => ask(client.GET('/api/v1/me/permissions')),
    staleTime: FRESH_MS,
  });
}

/**
 * Reason why the user may not do something, as the API gives it of the table of roles. `undefined`: the user may, or it is not known
 * yet, and the API will judge.
 */
export function useForbidden(): (action: Action) => string | undefined {
  const { data } = usePermissions();
  return (action) => {
    const access = data?.permissions.find((one) => one.action === action);
    if (access === undefined || access.isAllowed) return undefined;
    return [access.why, ...access.cures].map(sentence).join(' ');
  };
}
