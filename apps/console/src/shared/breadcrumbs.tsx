import Link from 'next/link';

/** The way up from a page: what it belongs to, the outermost first. */
export function Breadcrumbs({ trail }: { trail: readonly { href: string; label: string }[] }) {
  return (
    <nav aria-label="Way up" className="mb-1 text-xs text-muted">
      {trail.map(({ href, label }) => (
        <span key={href}>
          <Link href={href} className="inline-flex min-h-6 items-center hover:underline">
            {label}
          </Link>
          {' / '}
        </span>
      ))}
    </nav>
  );
}
