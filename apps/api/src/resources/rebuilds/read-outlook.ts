import { compareQueued } from '@holdfast/core/admission/plan-admissions.js';
import { type EndEstimate, estimateEnds } from '@holdfast/core/forecast/estimate-ends.js';
import { pacesOf, SPEEDS_MAX } from '@holdfast/core/forecast/pace.js';
import type { ClusterId, RebuildId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { loadActiveRebuilds } from '@holdfast/database/queries/rebuilds.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { loadRebuildSpeeds } from '@holdfast/database/store/load-node-volumes.js';
import { loadSettings } from '@holdfast/database/store/load-views.js';
import { loadRebuildQuotas } from '@holdfast/database/store/rebuild-quotas.js';

/** Outlook of a cluster's rebuilds: each one's place in the queue, and its estimated end. */
export type RebuildOutlook = {
  readonly positions: ReadonlyMap<RebuildId, number>;
  readonly ends: ReadonlyMap<RebuildId, EndEstimate>;
  /** Those that wait or run. */
  readonly active: readonly Rebuild[];
};

export async function readOutlook(sql: Sql, clusterId: ClusterId, now: Date): Promise<RebuildOutlook> {
  const { active, volumes } = await loadActiveRebuilds(sql, clusterId);
  if (active.length === 0) return { positions: new Map(), ends: new Map(), active };
  const { settings } = await loadSettings(sql, clusterId);
  const queued = active.filter(({ state }) => state === 'queued');
  const running = active.filter(({ state }) => state === 'running');
  const speeds = await loadRebuildSpeeds(sql, clusterId, SPEEDS_MAX);
  const quotas = await loadRebuildQuotas(sql, clusterId);
  const facts = { clusterId, settings, queued, running, quotas, volumes };
  return { positions: positionsOf(active), ends: estimateEnds(facts, pacesOf(speeds), now), active };
}

/** In the order of admission. */
function positionsOf(active: readonly Rebuild[]): ReadonlyMap<RebuildId, number> {
  const waiting = active.filter(({ state, preemptedAt }) => state === 'queued' || preemptedAt !== undefined);
  return new Map(waiting.sort(compareQueued).map(({ id }, index) => [id, index + 1]));
}
