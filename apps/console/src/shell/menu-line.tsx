'use client';
import { Command } from 'cmdk';
import type { LucideIcon } from 'lucide-react';
import { createContext, type ReactNode, useContext, useLayoutEffect } from 'react';
import type { MenuAction } from './menu-actions';
import type { Answer } from './menu-words';

export const GROUP =
  '[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted';

/** Action of a line. The menu closes first. */
type Choosing = {
  readonly go: (href: string) => void;
  readonly act: (action: MenuAction) => void;
  readonly choose: (run: () => void) => void;
  /** Takes what became of the search for things of one kind; `undefined`: they are not searched any more. */
  readonly tell: (kind: string, answer: Answer | undefined) => void;
};

export const MenuContext = createContext<Choosing | undefined>(undefined);

export function useChoosing(): Choosing {
  const choosing = useContext(MenuContext);
  if (choosing === undefined) throw new Error('a line of the command menu stands outside of it');
  return choosing;
}

type Asked = { readonly data: unknown; readonly isError: boolean; readonly isPlaceholderData: boolean };

/** Tells the menu what became of a search, before it is painted: else it would say for a frame that nothing was found. */
export function useAnswerOf(kind: string, { data, isError, isPlaceholderData }: Asked): void {
  const { tell } = useChoosing();
  const answer = isError ? 'failed' : data === undefined || isPlaceholderData ? 'pending' : 'known';
  useLayoutEffect(() => {
    tell(kind, answer);
    return () => tell(kind, undefined);
  }, [tell, kind, answer]);
}

type Props = {
  /** By which it is found: its words, each line's other than the others'. */
  value: string;
  icon: LucideIcon;
  /** Why it can't be chosen. */
  why?: string | undefined;
  onSelect: () => void;
  children: ReactNode;
};

export function MenuLine({ value, icon: Icon, why, onSelect, children }: Props) {
  return (
    <Command.Item
      value={value}
      disabled={why !== undefined}
      onSelect={onSelect}
      className="flex min-h-8 cursor-pointer items-center gap-2.5 rounded-md px-2.5 text-sm data-[selected=true]:bg-hover data-[disabled=true]:cursor-not-allowed data-[disabled=true]:text-muted"
    >
      <Icon aria-hidden size={15} className="shrink-0" />
      {why === undefined ? children : <span className="shrink-0">{children}</span>}
      {why !== undefined && <span className="truncate text-xs">{why}</span>}
    </Command.Item>
  );
}
