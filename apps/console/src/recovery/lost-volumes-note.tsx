'use client';
import { CircleAlert } from 'lucide-react';
import Link from 'next/link';
import { paths } from '../paths';
import { volumesWord } from '../shared/risk-words';
import { useLostVolumes } from '../shared/use-lost-volumes';

/**
 * Note on the overview that the disks hold volumes which the database lacks. Nothing if there are none; leftovers of a volume that a
 * user deleted are no loss.
 */
export function LostVolumesNote() {
  const { data = [] } = useLostVolumes();
  const lost = data.filter(({ obstacle }) => obstacle?.code !== 'Deleted');
  if (lost.length === 0) return null;
  return (
    <section
      aria-label="Lost volumes"
      className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-border bg-warn-soft px-4 py-3 text-sm"
    >
      <CircleAlert aria-hidden size={18} className="shrink-0 text-warn" />
      <p>
        Copies on the disks are of {volumesWord(lost.length)} that the database does not know. Nothing is
        removed: they wait to be recovered.
      </p>
      <Link href={paths.nodes} className="text-accent hover:underline">
        See what was found
      </Link>
    </section>
  );
}
