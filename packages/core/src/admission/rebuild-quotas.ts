/** Words for a rebuild that waits because of a quota: whose it is, and who may raise it. */
import type { RebuildQuota } from '../model/views.js';
import type { Waiting } from './waiting.js';

const OWNERS = {
  organization: { who: 'the organization', cure: 'one of its owners may raise it' },
  project: { who: 'the project', cure: 'an admin of its organization may raise it' },
  grant: {
    who: 'the organization, by its grant in this cluster,',
    cure: "an admin of the cluster's organization may raise it",
  },
} as const;

/** @param here how many of its rebuilds run in this cluster */
export function quotaText({ scope, most, elsewhere }: RebuildQuota, here: number): Waiting {
  const { who, cure } = OWNERS[scope];
  if (most === 0) return { reason: 'QuotaZero', waitingFor: `${who} may run no rebuild: ${cure}` };
  const running = here + elsewhere;
  const runs = running === 1 ? '1 rebuild' : `${running} rebuilds`;
  return {
    reason: 'QuotaLimit',
    waitingFor: `${who} runs ${runs}, and may run ${most} at once: ${cure}`,
  };
}
