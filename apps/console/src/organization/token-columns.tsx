import { Moment } from '@holdfast/ui/moment.js';
import type { Column } from '@holdfast/ui/table.js';

/** Columns of lists of sessions, of tokens, and of the accounts that own tokens. */
export const LAST_USED: Column<{ lastUsedAt: string | null }> = {
  header: 'Last used',
  cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Moment at={lastUsedAt} />),
};

export const ENDS: Column<{ expiresAt: string | null }> = {
  header: 'Ends',
  cell: ({ expiresAt }) => (expiresAt === null ? 'Never' : <Moment at={expiresAt} coming />),
};
