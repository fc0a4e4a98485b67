import { Skeleton } from '@holdfast/ui/message.js';
import type { ReactNode } from 'react';

type Props = {
  /** What is shown may be the answer to the question before. */
  query: { readonly isPlaceholderData: boolean };
  rows: number;
  /** What is said of a list that is empty. */
  children?: ReactNode;
};

/** That nothing was found, once that is the answer to what was asked: until then, that it is being looked for. */
export function NoneFound({ query, rows, children }: Props) {
  return query.isPlaceholderData ? <Skeleton rows={rows} /> : children;
}
