'use client';
import { Dialog } from '@holdfast/ui/dialog.js';
import { Search } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useEffect, useRef, useState } from 'react';
import { PLACES } from '../shared/places';
import { keyAction, SHORTCUTS } from './key-action';
import { focusRow, selectRow } from './row-focus';

/** Asked for when it is first opened: most visits do without it. */
const CommandMenu = dynamic(() => import('./command-menu'), { ssr: false });

/** A key after `g` counts for so long. */
const AWAIT_MS = 1_500;
/** When `g` was pressed, if it was not: also in the first moments of a page. */
const NEVER_MS = Number.NEGATIVE_INFINITY;
const OFF_KEY = 'holdfast.single-keys-off';

/** The keys of the whole console, the command menu, and the list of shortcuts. */
export function Shortcuts() {
  const router = useRouter();
  const [open, setOpen] = useState<'menu' | 'help'>();
  const awaitedAtMs = useRef(NEVER_MS);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey) return;
      const action = keyAction({
        key: event.key,
        hasCommand: event.metaKey || event.ctrlKey,
        isTyping: isTyping(event.target),
        isInDialog: document.querySelector('[role=dialog]') !== null,
        isAwaitingPlace: performance.now() - awaitedAtMs.current < AWAIT_MS,
        isSingleOff: isSingleOff(),
      });
      awaitedAtMs.current = NEVER_MS;
      if (action === undefined) return;
      event.preventDefault();
      switch (action.kind) {
        case 'menu':
          return setOpen((was) => (was === 'menu' ? undefined : 'menu'));
        case 'help':
          return setOpen('help');
        case 'search':
          return document.querySelector<HTMLElement>('[data-search]')?.focus();
        case 'next-row':
          return focusRow(1);
        case 'previous-row':
          return focusRow(-1);
        case 'select-row':
          return selectRow();
        case 'await-place':
          awaitedAtMs.current = performance.now();
          return;
        case 'go':
          return router.push(action.href);
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [router]);

  return (
    <>
      <button
        type="button"
        onClick={() => setOpen('menu')}
        aria-label="Go to, do… (command menu)"
        aria-keyshortcuts="Control+K Meta+K"
        className="flex h-8 w-full items-center gap-2 rounded-md border border-border bg-sunken px-2.5 text-sm text-muted hover:bg-hover"
      >
        <Search aria-hidden size={14} />
        <span className="max-lg:hidden">Go to, do…</span>
        {/* No text, which a user of voice commands would say, and the button's name would have to have. */}
        <kbd
          aria-hidden
          data-keys="⌘K"
          className="ml-auto font-mono text-xs before:content-[attr(data-keys)] max-lg:hidden"
        />
      </button>
      {open === 'menu' && <CommandMenu onClose={() => setOpen(undefined)} />}
      <Help open={open === 'help'} onClose={() => setOpen(undefined)} />
    </>
  );
}

function Help({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [isOff, setOff] = useState(false);
  useEffect(() => setOff(isSingleOff()), []);
  return (
    <Dialog open={open} onOpenChange={onClose} title="Shortcuts" description="Keys that work on every page.">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
        {SHORTCUTS.map(({ keys, does }) => (
          <Shortcut key={keys} keys={keys} does={does} />
        ))}
        {PLACES.map(
          ({ key, label }) => key !== undefined && <Shortcut key={key} keys={`g ${key}`} does={label} />,
        )}
      </dl>
      <label className="mt-4 flex min-h-6 items-center gap-2 text-sm">
        <input
          type="checkbox"
          checked={isOff}
          onChange={({ target }) => {
            setOff(target.checked);
            keepSingleOff(target.checked);
          }}
        />
        Only keys with Ctrl or ⌘, for those who dictate
      </label>
    </Dialog>
  );
}

function Shortcut({ keys, does }: { keys: string; does: string }) {
  return (
    <>
      <dt>
        <kbd className="rounded border border-border bg-sunken px-1.5 font-mono text-xs">{keys}</kbd>
      </dt>
      <dd>{does}</dd>
    </>
  );
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isBox = target instanceof HTMLInputElement && ['checkbox', 'radio'].includes(target.type);
  return !isBox && target.matches('input, textarea, select, [contenteditable]');
}

function isSingleOff(): boolean {
  try {
    return window.localStorage.getItem(OFF_KEY) === 'yes';
  } catch {
    return false;
  }
}

function keepSingleOff(isOff: boolean): void {
  try {
    window.localStorage.setItem(OFF_KEY, isOff ? 'yes' : 'no');
  } catch {
    // A browser that keeps nothing has them on.
  }
}
