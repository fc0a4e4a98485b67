import Link from 'next/link';

/** The path up from a page, the outermost first. */
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
