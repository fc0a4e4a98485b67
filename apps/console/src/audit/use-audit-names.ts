'use client';
import { useQuery } from '@tanstack/react-query';
import { useDisksNamed, useNodeNames } from '../api/node-queries';
import { organizationApi } from '../api/organization';
import { useVolumesNamed } from '../api/queries';
import { useAllowed } from '../api/use-access';
import { useClusterChoice } from '../api/use-cluster';
import { isId, type KnownNames, keyOf, type NamedEntry } from './audit-names';

/** Kinds of objects that a user may see, each read at once and by its ids; a deleted one is shown by the beginning of its id. */
export function useAuditNames(entries: readonly NamedEntry[]): KnownNames {
  const idsOf = (kind: string) => [
    ...new Set(entries.flatMap(({ target }) => (target.kind === kind && isId(target.id) ? [target.id] : []))),
  ];
  const { clusters } = useClusterChoice();
  const isMemberList = useAllowed()('member:read');
  const members = useQuery({
    queryKey: ['organization', 'members'],
    queryFn: organizationApi.members,
    enabled: isMemberList,
  });
  const projects = useQuery({ queryKey: ['organization', 'projects'], queryFn: organizationApi.projects });
  const volumes = useVolumesNamed(idsOf('volume')).data ?? [];
  const nodeIds = idsOf('node');
  const nodeName = useNodeNames(nodeIds);
  const disks = useDisksNamed(idsOf('disk')).data ?? [];
  const known = (kind: string, things: readonly { id: string; name: string }[]) =>
    things.map(({ id, name }): [string, string] => [keyOf({ kind, id }), name]);
  return new Map([
    ...known('volume', volumes),
    ...known(
      'node',
      nodeIds.map((id) => ({ id, name: nodeName(id) })),
    ),
    ...known('disk', disks),
    ...known('cluster', clusters),
    ...known('project', projects.data ?? []),
    ...known(
      'user',
      (members.data ?? []).map(({ userId, name }) => ({ id: userId, name })),
    ),
  ]);
}
