'use client';
import { Popover as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

type Props = {
  label: string;
  /** Tells it apart from others of the same label on the page. */
  of?: string | undefined;
  icon: ReactNode;
  children: ReactNode;
};

/** A button that opens a small box beside it. Escape and a click outside close it. */
export function Popover({ label, of, icon, children }: Props) {
  const name = of === undefined ? label : `${label}: ${of}`;
  return (
    <Radix.Root>
      <Radix.Trigger
        aria-label={name}
        className="inline-flex h-8 items-center gap-1.5 rounded-md px-2.5 text-sm text-muted hover:bg-hover hover:text-text"
      >
        {icon}
        {label}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={name}
          align="end"
          sideOffset={4}
          className="z-40 w-60 rounded-md border border-border bg-raised p-3 text-sm shadow-xl"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
