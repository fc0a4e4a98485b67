'use client';
import { clsx } from 'clsx';
import { type ButtonHTMLAttributes, type ReactNode, useId } from 'react';
import { Spinner } from './motion.js';

type Props = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> & {
  children: ReactNode;
  variant?: 'primary' | 'secondary' | 'danger' | 'ghost';
  /** Why it can't be pressed now. The button stays visible and says so. */
  disabledReason?: string | undefined;
  busy?: boolean;
};

const VARIANT = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent',
  secondary: 'bg-raised text-text hover:bg-hover border-border-strong',
  danger: 'bg-raised text-bad hover:bg-bad-soft border-border-strong',
  ghost: 'bg-transparent text-muted hover:bg-hover hover:text-text border-transparent',
} satisfies Record<NonNullable<Props['variant']>, string>;

/** A button that is never hidden: where it can't act, it says why (aria-disabled, so that it can still be reached). */
export function Button({
  children,
  variant = 'secondary',
  disabledReason,
  busy = false,
  onClick,
  className,
  ...rest
}: Props) {
  const reasonId = useId();
  const blocked = disabledReason !== undefined || busy;
  return (
    <>
      <button
        type="button"
        {...rest}
        aria-disabled={blocked || undefined}
        aria-describedby={disabledReason === undefined ? undefined : reasonId}
        title={disabledReason}
        onClick={blocked ? (event) => event.preventDefault() : onClick}
        className={clsx(
          'inline-flex h-8 items-center justify-center gap-1.5 rounded-md border px-3 text-sm font-medium',
          'transition-colors duration-100',
          VARIANT[variant],
          blocked && 'cursor-not-allowed opacity-55 hover:bg-raised',
          className,
        )}
      >
        {busy && <Spinner size={14} />}
        {children}
      </button>
      {disabledReason !== undefined && (
        <span id={reasonId} hidden>
          {disabledReason}
        </span>
      )}
    </>
  );
}
