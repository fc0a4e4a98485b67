import { Skeleton } from '@holdfast/ui/message.js';
import type { ReactNode } from 'react';

type Props = {
  /** The displayed rows may answer the previous question. */
  query: { readonly isPlaceholderData: boolean };
  rows: number;
  /** Text of an empty list. */
  children?: ReactNode;
};

/** Says that nothing was found, once that is the answer to the question: until then, that the search is running. */
export function NoneFound({ query, rows, children }: Props) {
  return query.isPlaceholderData ? <Skeleton rows={rows} /> : children;
}
