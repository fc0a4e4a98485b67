import type { DiskReport } from '../model/agent-protocol.js';

/** Does the report name every copy on the disk? Only then is one that it does not name a copy that is not there. */
export function isListed({ ready, copiesListed }: Pick<DiskReport, 'ready' | 'copiesListed'>): boolean {
  return ready && copiesListed === true;
}
