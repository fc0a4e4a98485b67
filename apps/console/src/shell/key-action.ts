/** Actions of keys anywhere in the console, and where they do nothing. */
import { PLACES } from '../shared/places';

export type KeyAction =
  | { readonly kind: 'menu' | 'search' | 'help' | 'next-row' | 'previous-row' | 'select-row' | 'await-place' }
  | { readonly kind: 'go'; readonly href: string };

export type Pressed = {
  readonly key: string;
  /** Ctrl, or ⌘ on a Mac. */
  readonly hasCommand: boolean;
  readonly isTyping: boolean;
  readonly isInDialog: boolean;
  /** `g` was pressed just before. */
  readonly isAwaitingPlace: boolean;
  /** The user has switched keys without Ctrl off. */
  readonly isSingleOff: boolean;
};

export const SHORTCUTS = [
  {
    keys: '⌘K or Ctrl-K',
    does: 'Open the command menu: all pages, objects by name, and their actions',
  },
  { keys: '/', does: 'Search this list' },
  { keys: 'j, k', does: 'Next and previous row' },
  { keys: 'Enter', does: 'Open the row' },
  { keys: 'x', does: 'Select the row' },
  { keys: '?', does: 'Show this list' },
  { keys: 'Esc', does: 'Close what is open, or the newest note' },
] as const;

export function keyAction(pressed: Pressed): KeyAction | undefined {
  const { key, hasCommand, isTyping, isInDialog, isAwaitingPlace, isSingleOff } = pressed;
  if (hasCommand) return key.toLowerCase() === 'k' ? { kind: 'menu' } : undefined;
  if (isTyping || isInDialog || isSingleOff) return undefined;
  if (isAwaitingPlace) {
    const place = PLACES.find((one) => one.key === key);
    return place === undefined ? undefined : { kind: 'go', href: place.href };
  }
  switch (key) {
    case '/':
      return { kind: 'search' };
    case '?':
      return { kind: 'help' };
    case 'j':
      return { kind: 'next-row' };
    case 'k':
      return { kind: 'previous-row' };
    case 'x':
      return { kind: 'select-row' };
    case 'g':
      return { kind: 'await-place' };
    default:
      return undefined;
  }
}
