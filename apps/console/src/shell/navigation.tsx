'use client';
import { clsx } from 'clsx';
import { Menu } from 'lucide-react';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { paths } from '../paths';
import { PLACES } from '../shared/places';

/**
 * Every page of the console: beside the content, and on narrow screens behind a menu button, so that all can be reached.
 *
 * @param children what phones have no other place for: it heads the menu there, and is left out on wider screens
 */
export function Navigation({ children }: { children: ReactNode }) {
  const pathname = usePathname();
  const [isOpen, setOpen] = useState(false);
  const toggle = useRef<HTMLButtonElement>(null);
  const listId = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when another page has come
  useEffect(() => setOpen(false), [pathname]);

  function closeByKey(event: KeyboardEvent) {
    if (event.key !== 'Escape' || !isOpen) return;
    setOpen(false);
    toggle.current?.focus();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the button and links inside are heard here
    <div onKeyDown={closeByKey}>
      <button
        ref={toggle}
        type="button"
        aria-expanded={isOpen}
        aria-controls={listId}
        onClick={() => setOpen(!isOpen)}
        className="inline-flex h-9 items-center gap-2 rounded-md px-2.5 text-sm hover:bg-hover lg:hidden"
      >
        <Menu aria-hidden size={16} /> Menu
      </button>
      <nav
        id={listId}
        aria-label="Pages"
        className={clsx(
          'gap-0.5 lg:flex lg:flex-col lg:px-2',
          'max-lg:absolute max-lg:inset-x-0 max-lg:top-full max-lg:z-30 max-lg:grid-cols-2 max-lg:border-b max-lg:border-border max-lg:bg-raised max-lg:p-2 max-lg:shadow-panel',
          isOpen ? 'max-lg:grid' : 'max-lg:hidden',
        )}
      >
        <div className="col-span-2 flex flex-wrap items-center gap-3 px-2.5 pb-2 sm:hidden">{children}</div>
        {PLACES.map(({ href, label, icon: Icon }) => {
          const current = href === paths.overview ? pathname === href : pathname.startsWith(href);
          return (
            <Link
              key={href}
              href={href}
              aria-current={current ? 'page' : undefined}
              className={clsx(
                'flex h-9 items-center gap-2.5 rounded-md px-2.5 text-sm',
                current ? 'bg-hover font-medium text-text' : 'text-muted hover:bg-hover hover:text-text',
              )}
            >
              <Icon aria-hidden size={16} className={clsx(current && 'text-accent')} />
              {label}
            </Link>
          );
        })}
      </nav>
    </div>
  );
}
