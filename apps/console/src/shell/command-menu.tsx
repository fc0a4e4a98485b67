'use client';
import { Command, useCommandState } from 'cmdk';
import { CornerDownRight, Zap } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { useForbidden } from '../api/use-access';
import { useFreshness } from '../shared/freshness';
import { noteReason } from '../shared/notes';
import { type PageAction, pressWhenThere, readPageActions } from '../shared/page-actions';
import { ALL_PLACES } from '../shared/places';
import { FoundThings } from './found-things';
import { GLOBAL_ACTIONS, type MenuAction } from './menu-actions';
import { GROUP, MenuContext, MenuLine } from './menu-line';
import { type Answers, menuScore, searchNote } from './menu-words';
import { SessionLines } from './session-lines';

/** The text is searched for once its user has paused. */
const TYPING_MS = 150;

type Props = { onClose: () => void };

/** All places, the actions of the page and of the whole, and objects by their names with their actions. */
export default function CommandMenu({ onClose }: Props) {
  const router = useRouter();
  const [typed, setTyped] = useState('');
  const settled = useSettled(typed);
  const [actions] = useState<PageAction[]>(() => readPageActions(document));
  const [answers, tell] = useAnswers();
  const [cameFrom] = useState(() => document.activeElement);
  // The focus returns, unless the choice has taken it.
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
  const go = (href: string) => choose(() => router.push(href));
  const act = ({ href, press }: MenuAction) =>
    choose(() => {
      router.push(href);
      if (press !== undefined) pressWhenThere(href, press, noteReason);
    });

  const here = new Set(actions.map(({ label }) => label));
  return (
    <Command.Dialog
      open
      onOpenChange={onClose}
      filter={menuScore}
      label="Command menu"
      overlayClassName="fixed inset-0 z-40 bg-black/50"
      contentClassName="fixed top-[12vh] left-1/2 z-50 w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 overflow-hidden rounded-lg border border-border bg-raised shadow-xl"
    >
      <Command.Input
        value={typed}
        onValueChange={setTyped}
        placeholder="Go to a page or a thing by its name, or do something"
        className="h-11 w-full border-b border-border bg-transparent px-4 text-sm outline-none placeholder:text-muted"
      />
      <MenuContext value={{ go, act, choose, tell }}>
        <Command.List className="max-h-[60vh] overflow-y-auto p-1.5">
          {actions.length > 0 && (
            <Command.Group heading="On this page" className={GROUP}>
              {actions.map(({ label, why, run }, at) => (
                <MenuLine
                  // biome-ignore lint/suspicious/noArrayIndexKey: two buttons may have one name, and the list never changes
                  key={at}
                  value={`${label} here ${at}`}
                  icon={Zap}
                  why={why}
                  onSelect={() => choose(run)}
                >
                  {label}
                </MenuLine>
              ))}
            </Command.Group>
          )}
          <FoundThings typed={settled} />
          <Places onGo={go} />
          <Command.Group heading="Do" className={GROUP}>
            {GLOBAL_ACTIONS.filter(({ label }) => !here.has(label)).map((action) => (
              <ActionLine key={action.label} action={action} onAct={act} />
            ))}
            <SessionLines />
          </Command.Group>
        </Command.List>
        {/* Beside the list, whose role has room for lines alone. */}
        <SearchNote answers={typed === settled ? answers : TYPING} />
      </MenuContext>
    </Command.Dialog>
  );
}

/** The typed text has not been searched for yet. */
const TYPING: Answers = { names: 'pending' };

/** State of the search for each kind of object. */
function useAnswers() {
  const [answers, setAnswers] = useState<Answers>({});
  const tell = useCallback((kind: string, answer: Answers[string] | undefined) => {
    setAnswers(({ [kind]: _before, ...others }) =>
      answer === undefined ? others : { ...others, [kind]: answer },
    );
  }, []);
  return [answers, tell] as const;
}

/** In place of the library's own word for no lines, which comes before the search has an answer. */
function SearchNote({ answers }: { answers: Answers }) {
  const lines = useCommandState(({ filtered }) => filtered.count);
  const note = searchNote(lines, answers, useFreshness() === 'cut');
  return (
    <p role="status" className="px-4 py-3 text-sm text-muted empty:p-0">
      {note}
    </p>
  );
}

function Places({ onGo }: { onGo: (href: string) => void }): ReactNode {
  return (
    <Command.Group heading="Go to" className={GROUP}>
      {ALL_PLACES.map(({ href, label, icon, key, words = '' }) => (
        <MenuLine key={label} value={`${label} ${words}`} icon={icon} onSelect={() => onGo(href)}>
          {label}
          {key !== undefined && <kbd className="ml-auto font-mono text-xs text-muted">g {key}</kbd>}
        </MenuLine>
      ))}
    </Command.Group>
  );
}

function ActionLine({ action, onAct }: { action: MenuAction; onAct: (action: MenuAction) => void }) {
  const forbidden = useForbidden();
  const why = action.needs === undefined ? undefined : forbidden(action.needs);
  return (
    <MenuLine value={action.label} icon={CornerDownRight} why={why} onSelect={() => onAct(action)}>
      {action.label}
    </MenuLine>
  );
}

function useSettled(typed: string): string {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return settled;
}
