'use client';
import { usePathname, useSearchParams } from 'next/navigation';
import { useCallback } from 'react';

/** Search text of the settings. It is in the address, so that it can be shared and survives a reload. */
export type SettingsState = {
  readonly text: string;
  readonly isSet: boolean;
  readonly isOverridden: boolean;
};

const TEXT = 'q';
/** The switches as the parameters that they are: there, or not. */
const SWITCHES = { isSet: 'set', isOverridden: 'overridden' } as const;

export function useSettingsState(): [SettingsState, (part: Partial<SettingsState>) => void] {
  const path = usePathname();
  const params = useSearchParams();
  const text = params.get(TEXT) ?? '';
  const isSet = params.has(SWITCHES.isSet);
  const isOverridden = params.has(SWITCHES.isOverridden);
  const change = useCallback(
    (part: Partial<SettingsState>) => {
      const next = { text, isSet, isOverridden, ...part };
      const query = new URLSearchParams();
      if (next.text !== '') query.set(TEXT, next.text);
      if (next.isSet) query.set(SWITCHES.isSet, '1');
      if (next.isOverridden) query.set(SWITCHES.isOverridden, '1');
      // Without the router, which would ask the server for a page that is here already.
      window.history.replaceState(null, '', query.size === 0 ? path : `${path}?${query}`);
    },
    [path, text, isSet, isOverridden],
  );
  return [{ text, isSet, isOverridden }, change];
}
