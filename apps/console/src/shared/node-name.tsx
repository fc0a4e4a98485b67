'use client';
import { useNodeNames } from '../api/node-queries';

/** A node's name by its id; a dash for none. Rows that are drawn together ask for theirs together. */
export function NodeName({ id }: { id: string | null }) {
  return id === null ? '–' : <KnownName id={id} />;
}

/** Apart, so that the rows of detached volumes, which a scroll draws by the dozen, watch nothing. */
function KnownName({ id }: { id: string }) {
  return useNodeNames([id])(id);
}
