/**
 * Actions of the command menu on every page. Each leads to the page that has it and presses the button there, so that it asks, shows
 * its plan and is refused as on the page.
 */
import type { Action } from '@holdfast/access/permissions.js';
import { paths } from '../paths';

export type MenuAction = {
  readonly label: string;
  readonly href: string;
  /** Button of that page; left out: the page itself is the target. */
  readonly press?: string;
  readonly needs?: Action;
};

export const GLOBAL_ACTIONS: readonly MenuAction[] = [
  { label: 'Create volume', href: paths.volumes, press: 'Create volume', needs: 'volume:write' },
  { label: 'Add node…', href: paths.nodes, press: 'Add node…', needs: 'node:write' },
  { label: 'New cluster…', href: paths.organization, press: 'New cluster…', needs: 'cluster:write' },
  {
    label: 'New organization…',
    href: paths.organization,
    press: 'New organization…',
    needs: 'organization:write',
  },
  {
    label: 'Rename the organization…',
    href: paths.organization,
    press: 'Rename…',
    needs: 'organization:write',
  },
  { label: 'Invite a member…', href: paths.organization, press: 'Invite…', needs: 'member:write' },
  { label: 'New project…', href: paths.projects, press: 'New project…', needs: 'project:write' },
  { label: 'New token…', href: paths.tokens, press: 'New token…', needs: 'token:own' },
  {
    label: 'New service account…',
    href: paths.serviceAccounts,
    press: 'New service account…',
    needs: 'member:write',
  },
  { label: 'New grant…', href: paths.grants, press: 'New grant…', needs: 'grant:write' },
  { label: 'New webhook…', href: paths.webhooks, press: 'New webhook…', needs: 'webhook:write' },
  { label: 'Verify the audit log', href: paths.audit, press: 'Verify', needs: 'audit:read' },
];

type Named = { readonly id: string; readonly name: string };

export function volumeActions({ id, name }: Named): MenuAction[] {
  const on = (label: string, press: string): MenuAction => ({
    label: `${label} ${name}`,
    href: paths.volume(id),
    press,
    needs: 'volume:write',
  });
  return [
    on('Attach', 'Attach'),
    on('Detach', 'Detach'),
    on('Resize', 'Resize'),
    on('Take a snapshot of', 'Take snapshot'),
    on('Verify', 'Verify'),
    on('Set the copies of', 'Copies'),
    on('Delete', 'Delete'),
  ];
}

type NamedNode = Named & {
  readonly cordoned: boolean;
  readonly drain: object | null;
  readonly maintenance: object | null;
};

export function nodeActions({ id, name, cordoned, drain, maintenance }: NamedNode): MenuAction[] {
  const on = (label: string, press: string): MenuAction => ({
    label: `${label} ${name}`,
    href: paths.node(id),
    press,
    needs: 'node:write',
  });
  const ask = (label: string, question: Readonly<Record<string, string>>): MenuAction => ({
    label,
    href: paths.whatIfThat(question),
    needs: 'placement:simulate',
  });
  return [
    ...(drain === null ? [on('Drain', 'Drain…')] : []),
    cordoned ? on('Uncordon', 'Uncordon…') : on('Cordon', 'Cordon'),
    maintenance === null
      ? on('Maintenance of', 'Maintenance…')
      : on('End the maintenance of', 'End maintenance…'),
    on('Evict the copies of', 'Evict copies…'),
    on('Add a disk to', 'Add disk…'),
    on('Change', 'Change…'),
    on('Forget', 'Forget…'),
    on('Delete', 'Delete…'),
    ask(`What if ${name} is lost`, { node: name }),
    ask(`What if ${name} is drained`, { drain: name }),
  ];
}

type NamedDisk = Named & { readonly nodeId: string };

export function diskActions({ id, name, nodeId }: NamedDisk, nodeName: string): MenuAction[] {
  const place = `${nodeName} / ${name}`;
  const on = (label: string, press: string): MenuAction => ({
    label: `${label} ${place}`,
    href: paths.disk(nodeId, id),
    press,
    needs: 'node:write',
  });
  return [
    on('Change disk', `Change disk ${name}`),
    on('Evict the copies of', 'Evict copies…'),
    on('Remove disk', 'Remove…'),
    {
      label: `What if ${place} is lost`,
      href: paths.whatIfThat({ disk: `${nodeName}/${name}` }),
      needs: 'placement:simulate',
    },
  ];
}
