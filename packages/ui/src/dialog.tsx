'use client';
import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useRef } from 'react';

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description: string;
  children: ReactNode;
};

/** Notes about earlier actions lie over a dialog: a click on one is no answer to its question. */
const NOTES = '[data-sonner-toaster]';

/** A modal question. Escape and a click outside mean no; the focus then goes back to where it was. */
export function Dialog({ open, onOpenChange, title, description, children }: Props) {
  const cameFrom = useFocusBefore(open);
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Radix.Content
          onInteractOutside={(event) => {
            if (event.target instanceof Element && event.target.closest(NOTES) !== null)
              event.preventDefault();
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (cameFrom.current instanceof HTMLElement) cameFrom.current.focus();
          }}
          className="fixed top-[8vh] left-1/2 z-50 max-h-[84vh] overflow-y-auto w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 rounded-lg border border-border bg-raised p-5 shadow-xl"
        >
          <Radix.Title className="text-base font-semibold text-text">{title}</Radix.Title>
          <Radix.Description className="mt-1 text-sm text-muted">{description}</Radix.Description>
          <div className="mt-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * Element with the focus when the dialog was opened. Read during rendering: a field that takes the focus has it before any effect.
 */
function useFocusBefore(open: boolean) {
  const wasOpen = useRef(false);
  const element = useRef<Element>(null);
  if (open && !wasOpen.current && typeof document !== 'undefined') element.current = document.activeElement;
  wasOpen.current = open;
  return element;
}
