'use client';
import { clsx } from 'clsx';
import { Popover as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

type Props = {
  label: string;
  /** Tells it apart from others of the same label on the page. */
  of?: string | undefined;
  icon: ReactNode;
  /** With a border, to stand among buttons that have one. */
  isFramed?: boolean;
  children: ReactNode;
};

/** A button that opens a small box beside it. Escape and a click outside close it. */
export function Popover({ label, of, icon, isFramed = false, children }: Props) {
  const name = of === undefined ? label : `${label}: ${of}`;
  return (
    <Radix.Root>
      <Radix.Trigger
        aria-label={name}
        className={clsx(
          'inline-flex h-8 items-center gap-1.5 rounded-md border px-2.5 text-sm text-muted hover:bg-hover hover:text-text',
          isFramed ? 'border-border-strong bg-raised' : 'border-transparent max-sm:first:-ml-2.5',
        )}
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
