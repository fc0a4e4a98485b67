import type { CommitGuard } from '@holdfast/control/ports/store.js';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import type { Touched } from './touched.js';

/** One running commit: its transaction, what it was planned from, and what it has changed so far. */
export type Commit = {
  readonly sql: Sql;
  readonly guard: CommitGuard;
  readonly touched: Touched;
  /** Organizations of volumes that it has deleted: what is told of them is for these. */
  readonly gone: Map<string, OrganizationId>;
};
