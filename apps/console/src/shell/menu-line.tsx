'use client';
import { Command } from 'cmdk';
import type { LucideIcon } from 'lucide-react';
import { createContext, type ReactNode, useContext } from 'react';
import type { MenuAction } from './menu-actions';

export const GROUP =
  '[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted';

/** What choosing a line does. The menu closes first. */
type Choosing = {
  readonly go: (href: string) => void;
  readonly act: (action: MenuAction) => void;
  readonly choose: (run: () => void) => void;
};

export const MenuContext = createContext<Choosing | undefined>(undefined);

export function useChoosing(): Choosing {
  const choosing = useContext(MenuContext);
  if (choosing === undefined) throw new Error('a line of the command menu stands outside of it');
  return choosing;
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
