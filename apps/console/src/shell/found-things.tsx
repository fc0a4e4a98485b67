'use client';
import { useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import {
  Bell,
  CornerDownRight,
  Database,
  FolderTree,
  HardDrive,
  type LucideIcon,
  Server,
  SlidersHorizontal,
  Webhook,
} from 'lucide-react';
import { useNodeNames, useSomeDisks, useSomeNodes } from '../api/node-queries';
import { organizationApi } from '../api/organization';
import { useAlertsNow, useSettings, useSomeVolumes } from '../api/queries';
import { useAllowed, useForbidden } from '../api/use-access';
import { webhooksApi } from '../api/webhooks';
import { paths } from '../paths';
import { diskActions, type MenuAction, nodeActions, volumeActions } from './menu-actions';
import { GROUP, MenuLine, useAnswerOf, useChoosing } from './menu-line';
import { menuScore, namesFilter } from './menu-words';

/** Things of one kind that the menu shows. */
const FOUND_MAX = 6;
/** Things of one kind whose actions it offers too: of more, a user types on until one is left. */
const ACTED_MAX = 2;
/** Shorter texts match most of a cluster's objects. */
const WORD_MIN = 2;

/** Objects by their names, read while one types: nothing is cached beyond the results. */
export function FoundThings({ typed }: { typed: string }) {
  const filter = namesFilter(typed);
  const allowed = useAllowed();
  if (filter === '') return null;
  return (
    <>
      {allowed('volume:read') && <Volumes filter={filter} />}
      <Nodes filter={filter} />
      <Disks filter={filter} />
      {typed.trim().length >= WORD_MIN && (
        <>
          <Settings typed={typed} />
          {allowed('alert:read') && <Alerts typed={typed} />}
          <Projects typed={typed} />
          {allowed('webhook:read') && <Webhooks typed={typed} />}
        </>
      )}
    </>
  );
}

function Volumes({ filter }: { filter: string }) {
  const asked = useSomeVolumes(filter);
  useAnswerOf('Volumes', asked);
  const found = asked.data ?? [];
  return (
    <Things
      heading="Volumes"
      icon={Database}
      things={found.map((volume) => ({
        id: volume.id,
        name: volume.name,
        href: paths.volume(volume.id),
        actions: volumeActions(volume),
        projectId: volume.projectId,
      }))}
    />
  );
}

function Nodes({ filter }: { filter: string }) {
  const asked = useSomeNodes({ filter, limit: FOUND_MAX });
  useAnswerOf('Nodes', asked);
  const found = asked.data ?? [];
  return (
    <Things
      heading="Nodes"
      icon={Server}
      things={found.map((node) => ({
        id: node.id,
        name: node.name,
        href: paths.node(node.id),
        actions: nodeActions(node),
      }))}
    />
  );
}

function Disks({ filter }: { filter: string }) {
  const asked = useSomeDisks({ filter, limit: FOUND_MAX });
  useAnswerOf('Disks', asked);
  const found = asked.data ?? [];
  const nameOf = useNodeNames(found.map(({ nodeId }) => nodeId));
  return (
    <Things
      heading="Disks"
      icon={HardDrive}
      things={found.map((disk) => ({
        id: disk.id,
        name: `${nameOf(disk.nodeId)} / ${disk.name}`,
        href: paths.disk(disk.nodeId, disk.id),
        actions: diskActions(disk, nameOf(disk.nodeId)),
      }))}
    />
  );
}

function Settings({ typed }: { typed: string }) {
  const asked = useSettings();
  useAnswerOf('Settings', asked);
  const found = (asked.data ?? []).filter(({ name }) => menuScore(`${name} setting`, typed) > 0);
  return (
    <Things
      heading="Settings"
      icon={SlidersHorizontal}
      things={found.map(({ name }) => ({
        id: name,
        name,
        words: 'setting',
        href: paths.settingsThat(name),
        actions: [
          {
            label: `Change ${name}`,
            href: paths.settingsThat(name),
            press: `Change: ${name}`,
            needs: 'setting:write',
          },
        ],
      }))}
    />
  );
}

function Alerts({ typed }: { typed: string }) {
  const asked = useAlertsNow();
  useAnswerOf('Alerts', asked);
  const firing = (asked.data ?? []).filter(
    ({ state, message }) => state === 'firing' && menuScore(`silence alert ${message}`, typed) > 0,
  );
  return (
    <Things
      heading="Alerts"
      icon={Bell}
      things={firing.map(({ id, message }) => ({
        id,
        name: message,
        words: 'alert silence',
        href: paths.alerts,
        actions: [
          {
            label: `Silence: ${message}`,
            href: paths.alerts,
            press: `Silence: ${message}`,
            needs: 'alert:write',
          },
        ],
      }))}
    />
  );
}

function Projects({ typed }: { typed: string }) {
  const asked = useNamed('projects', organizationApi.projects);
  useAnswerOf('Projects', asked);
  const { data = [] } = asked;
  const things = data.map(({ id, name }) => ({ id, name, href: paths.project(id), words: 'project' }));
  return <Things heading="Projects" icon={FolderTree} things={things.filter(matching(typed))} />;
}

function Webhooks({ typed }: { typed: string }) {
  const asked = useNamed('webhooks', webhooksApi.webhooks);
  useAnswerOf('Webhooks', asked);
  const { data = [] } = asked;
  const things = data.map(({ id, name }) => ({ id, name, href: paths.webhook(id), words: 'webhook' }));
  return <Things heading="Webhooks" icon={Webhook} things={things.filter(matching(typed))} />;
}

/** Under the keys of the organization's pages, whose lists these are. */
function useNamed<T>(name: string, ask: () => Promise<T>) {
  return useQuery({ queryKey: ['organization', name], queryFn: ask });
}

function matching(typed: string) {
  return ({ name, words = '' }: Thing) => menuScore(`${name} ${words}`, typed) > 0;
}

type Thing = {
  readonly id: string;
  readonly name: string;
  readonly href: string;
  readonly words?: string;
  readonly actions?: readonly MenuAction[];
  /** Project whose roles count for its actions. */
  readonly projectId?: string;
};

function Things({ heading, icon, things }: { heading: string; icon: LucideIcon; things: readonly Thing[] }) {
  const { go } = useChoosing();
  const shown = things.slice(0, FOUND_MAX);
  if (shown.length === 0) return null;
  return (
    <Command.Group heading={heading} className={GROUP}>
      {shown.map(({ id, name, href, words = '' }) => (
        <MenuLine key={id} value={`${name} ${heading} ${words} ${id}`} icon={icon} onSelect={() => go(href)}>
          <span className="truncate">{name}</span>
        </MenuLine>
      ))}
      {shown.slice(0, ACTED_MAX).map((thing) => (
        <Acts key={thing.id} thing={thing} />
      ))}
    </Command.Group>
  );
}

function Acts({ thing: { id, actions = [], projectId } }: { thing: Thing }) {
  const { act } = useChoosing();
  const forbidden = useForbidden(projectId);
  return actions.map((action) => (
    <MenuLine
      key={action.label}
      value={`${action.label} ${id}`}
      icon={CornerDownRight}
      why={action.needs === undefined ? undefined : forbidden(action.needs)}
      onSelect={() => act(action)}
    >
      <span className="truncate">{action.label}</span>
    </MenuLine>
  ));
}
