'use client';
import { Check, TriangleAlert } from 'lucide-react';
import { useTheme } from 'next-themes';
import { type CSSProperties, useEffect } from 'react';
import { Toaster, toast } from 'sonner';
import { RefusalWords } from './refusal';

const DONE_MS = 6_000;

/** Colours by role, as everywhere; the library has colours of its own. */
const LOOK = {
  '--normal-bg': 'var(--raised)',
  '--normal-border': 'var(--border-strong)',
  '--normal-text': 'var(--text)',
  fontFamily: 'inherit',
} as CSSProperties;

const ICONS = {
  success: <Check aria-hidden size={16} className="text-good" />,
  error: <TriangleAlert aria-hidden size={16} className="text-bad" />,
};

/** A dialog makes the page behind it deaf to the pointer. A note lies over the dialog and can be closed or copied from all the same. */
const NOTE_OPTIONS = { style: { pointerEvents: 'auto' } } as const;

/** Shows for a few seconds what has been done or begun. */
export function noteDone(text: string): void {
  toast.success(<span role="status">{text}</span>, { duration: DONE_MS });
}

/** Says why an action was refused and what would help, or that there was no answer. It stays until it is closed. */
export function noteRefusal(problem: unknown): void {
  toast.error(
    <div role="alert">
      <RefusalWords problem={problem} />
    </div>,
    { duration: Number.POSITIVE_INFINITY },
  );
}

/** Shows why an action chosen elsewhere can't be done now. */
export function noteReason(why: string): void {
  toast.error(<span role="alert">{why}</span>, { duration: Number.POSITIVE_INFINITY });
}

/**
 * Where notes are shown: in a corner, none over another. Escape closes the newest, unless a dialog is open, whose key it then is;
 * Alt+T goes to their buttons.
 */
export function Notes() {
  const { resolvedTheme } = useTheme();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      if (document.querySelector('[role=dialog]') !== null) return;
      const newest = toast.getToasts().at(-1);
      if (newest !== undefined) toast.dismiss(newest.id);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <Toaster
      position="bottom-right"
      theme={resolvedTheme === 'dark' ? 'dark' : 'light'}
      closeButton
      expand
      icons={ICONS}
      toastOptions={NOTE_OPTIONS}
      style={LOOK}
    />
  );
}
