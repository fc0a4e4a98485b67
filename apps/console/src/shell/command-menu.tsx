'use client';
import { Command } from 'cmdk';
import { Database, Zap } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useEffect, useState } from 'react';
import { useSomeVolumes } from '../api/queries';
import { paths } from '../paths';
import { type PageAction, readPageActions } from '../shared/page-actions';
import { PLACES } from './places';

const VOLUMES_MAX = 6;
const NAME = /^[a-z0-9][a-z0-9.-]*$/i;
const ITEM =
  'flex min-h-8 cursor-pointer items-center gap-2.5 rounded-md px-2.5 text-sm data-[selected=true]:bg-hover data-[disabled=true]:cursor-not-allowed data-[disabled=true]:text-muted';
const GROUP =
  '[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted';

type Props = { onClose: () => void };

/** All places, the actions of what is shown, and volumes by their names. */
export default function CommandMenu({ onClose }: Props) {
  const router = useRouter();
  const [typed, setTyped] = useState('');
  const [actions] = useState<PageAction[]>(() => readPageActions(document));
  const [cameFrom] = useState(() => document.activeElement);
  // What had the focus has it again, unless what was chosen has taken it.
  useEffect(
    () => () => {
      if (document.activeElement === document.body && cameFrom instanceof HTMLElement) cameFrom.focus();
    },
    [cameFrom],
  );

  function choose(run: () => void) {
    onClose();
    // The menu holds the focus until it is gone; a dialog that is opened now would give it back to it.
    setTimeout(run);
  }

  return (
    <Command.Dialog
      open
      onOpenChange={onClose}
      label="Command menu"
      overlayClassName="fixed inset-0 z-40 bg-black/50"
      contentClassName="fixed top-[12vh] left-1/2 z-50 w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 overflow-hidden rounded-lg border border-border bg-raised shadow-xl"
    >
      <Command.Input
        value={typed}
        onValueChange={setTyped}
        placeholder="Go to a page or a volume, or do something here"
        className="h-11 w-full border-b border-border bg-transparent px-4 text-sm outline-none placeholder:text-muted"
      />
      <Command.List className="max-h-[60vh] overflow-y-auto p-1.5">
        <Command.Empty className="px-2.5 py-4 text-sm text-muted">Nothing is called that.</Command.Empty>
        {actions.length > 0 && (
          <Command.Group heading="On this page" className={GROUP}>
            {actions.map(({ label, why, run }, at) => (
              <Command.Item
                // biome-ignore lint/suspicious/noArrayIndexKey: two buttons may have one name, and the list never changes
                key={at}
                value={`action ${label} ${at}`}
                disabled={why !== undefined}
                onSelect={() => choose(run)}
                className={ITEM}
              >
                <Zap aria-hidden size={15} className="shrink-0" />
                <span>{label}</span>
                {why !== undefined && <span className="truncate text-xs">{why}</span>}
              </Command.Item>
            ))}
          </Command.Group>
        )}
        <Command.Group heading="Go to" className={GROUP}>
          {PLACES.map(({ href, label, icon: Icon, key }) => (
            <Command.Item
              key={href}
              value={`place ${label}`}
              onSelect={() => choose(() => router.push(href))}
              className={ITEM}
            >
              <Icon aria-hidden size={15} className="shrink-0" />
              {label}
              {key !== undefined && <kbd className="ml-auto font-mono text-xs text-muted">g {key}</kbd>}
            </Command.Item>
          ))}
        </Command.Group>
        <Volumes name={typed.trim()} onChoose={(id) => choose(() => router.push(paths.volume(id)))} />
      </Command.List>
    </Command.Dialog>
  );
}

function Volumes({ name, onChoose }: { name: string; onChoose: (id: string) => void }) {
  const isName = NAME.test(name);
  const { data } = useSomeVolumes(isName ? `name=${name.toLowerCase()}*` : '', { enabled: isName });
  if (!isName || data === undefined || data.length === 0) return null;
  return (
    <Command.Group heading="Volumes" className={GROUP}>
      {data.slice(0, VOLUMES_MAX).map((volume) => (
        <Command.Item
          key={volume.id}
          value={`volume ${volume.name}`}
          onSelect={() => onChoose(volume.id)}
          className={ITEM}
        >
          <Database aria-hidden size={15} className="shrink-0" />
          {volume.name}
        </Command.Item>
      ))}
    </Command.Group>
  );
}
