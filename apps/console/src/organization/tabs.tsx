'use client';
import { clsx } from 'clsx';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { paths } from '../paths';
import { ORGANIZATION_PLACES } from '../shared/places';

/** The pages about the organization. */
export function OrganizationTabs() {
  const pathname = usePathname();
  return (
    <nav aria-label="Organization" className="mb-4 flex flex-wrap gap-x-1 border-b border-border">
      {ORGANIZATION_PLACES.map(({ href, label }) => {
        const current = href === paths.organization ? pathname === href : pathname.startsWith(href);
        return (
          <Link
            key={href}
            href={href}
            aria-current={current ? 'page' : undefined}
            className={clsx(
              '-mb-px inline-flex h-9 items-center border-b-2 px-3 text-sm',
              current
                ? 'border-accent font-medium text-text'
                : 'border-transparent text-muted hover:text-text',
            )}
          >
            {label}
          </Link>
        );
      })}
    </nav>
  );
}
