'use client';
import { useQuery } from '@tanstack/react-query';
import { organizationApi } from './organization';

/** The signed-in user, and the organization that they work in now. */
export function useWhoAmI() {
  return useQuery({ queryKey: ['organization', 'who-am-i'], queryFn: organizationApi.whoAmI });
}
