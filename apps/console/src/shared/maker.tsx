'use client';
import { useQuery } from '@tanstack/react-query';
import { organizationApi } from '../api/organization';
import { useAllowed } from '../api/use-access';
import { useWhoAmI } from '../api/use-who-am-i';
import { makerWords } from './maker-words';

/** Who made something, such as an invitation or a silence: it ends with its maker. */
export function Maker({ id }: { id: string | null }) {
  const isAllowed = useAllowed()('member:read');
  const members = useQuery({
    queryKey: ['organization', 'members'],
    queryFn: organizationApi.members,
    enabled: isAllowed,
  });
  return makerWords(id, members.data, useWhoAmI().data);
}
