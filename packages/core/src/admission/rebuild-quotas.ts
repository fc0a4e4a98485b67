/**
 * Quotas of running rebuilds, of organizations, projects and grants: a rebuild takes a place in each that its volume counts
 * in. A quota spans clusters, so what runs elsewhere is taken off what it leaves here.
 */
import type { VolumeId } from '../model/ids.js';
import type { RebuildQuota } from '../model/views.js';
import type { Demand } from './admission-queue.js';
import type { Waiting } from './waiting.js';

export function quotaDemands(volumeId: VolumeId, quotas: readonly RebuildQuota[]): Demand[] {
  return quotas
    .filter(({ volumeIds }) => volumeIds.includes(volumeId))
    .map((quota) => ({ limit: 'quota', quota }));
}

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
  const running = here + elsewhere;
  const runs = running === 1 ? '1 rebuild' : `${running} rebuilds`;
  return {
    reason: 'QuotaLimit',
    waitingFor: `${who} runs ${runs}, and may run ${most} at once: ${cure}`,
  };
}
