'use client';
import { useNodeNames } from '../api/node-queries';

/** A node's name by its id; a dash for none. Rows that are drawn together ask for theirs together. */
export function NodeName({ id }: { id: string | null }) {
  return useNodeNames([id])(id);
}
