import type { CommitGuard } from '@holdfast/control/ports/store.js';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import type { WakeUpSet } from './wake-up-set.js';

/** One running commit: its transaction, its view, and its changes so far. */
export type Commit = {
  readonly sql: Sql;
  readonly guard: CommitGuard;
  readonly touched: WakeUpSet;
  /** Organizations of volumes that it has deleted: they receive the events about these. */
  readonly gone: Map<string, OrganizationId>;
};
