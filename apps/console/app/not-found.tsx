import Link from 'next/link';
import { paths } from '../src/paths';
import { Logo } from '../src/shared/logo';

/** Page for an unknown address. */
export default function NotFound() {
  return (
    <main className="grid min-h-screen place-items-center px-4">
      <title>No such page · Holdfast</title>
      <div className="flex w-full max-w-sm items-start gap-3">
        <Logo size={36} />
        <div>
          <h1 className="text-lg font-semibold">There is no such page</h1>
          <p className="mt-1 text-sm text-muted">
            The address may have a typing error, or what it led to may be gone.
          </p>
          <p className="mt-3 flex gap-4 text-sm">
            <Link href={paths.overview} className="text-accent underline">
              Overview
            </Link>
            <Link href={paths.volumes} className="text-accent underline">
              Volumes
            </Link>
          </p>
        </div>
      </div>
    </main>
  );
}
