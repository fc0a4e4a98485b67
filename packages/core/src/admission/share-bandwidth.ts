import { MIB } from '../model/bytes.js';
import type { RebuildId, VolumeId } from '../model/ids.js';
import { REBUILD_BANDWIDTH_MIN, type Rebuild, standsStill } from '../model/rebuild.js';
import type { ClusterSettings } from '../model/setting.js';
import type { BandwidthSpec } from '../model/views.js';
import { isMapped, settingsOf } from '../settings/engine-maps.js';

const NODE_LIMIT = 'replica-rebuilding-bandwidth-limit';

/**
 * Rate limit of each running rebuild: its own limit, and its volume's setting, or else an equal share of its target node's limit.
 * Paused ones leave their share to the others. `undefined`: unlimited.
 *
 * If the cluster limits each data engine separately, rebuilds of one engine share that engine's limit.
 */
export function shareBandwidth(
  running: readonly Rebuild[],
  settings: ClusterSettings,
  specOf: (volumeId: VolumeId) => BandwidthSpec | undefined,
): ReadonlyMap<RebuildId, number | undefined> {
  const pools = new Map<string, number>();
  const poolOf = ({ targetNodeId, volumeId }: Rebuild) =>
    isMapped(settings, NODE_LIMIT) ? `${targetNodeId} ${engineOf(specOf(volumeId))}` : targetNodeId;
  for (const rebuild of running) {
    if (standsStill(rebuild) || ownBytes(specOf(rebuild.volumeId)) !== undefined) continue;
    pools.set(poolOf(rebuild), (pools.get(poolOf(rebuild)) ?? 0) + 1);
  }
  return new Map(
    running.map((rebuild) => {
      const spec = specOf(rebuild.volumeId);
      const nodeBytes = settingsOf(settings, engineOf(spec))[NODE_LIMIT] * MIB;
      const bytes = ownBytes(spec) ?? shareOf(nodeBytes, pools.get(poolOf(rebuild)) ?? 0);
      const { id, bandwidthBytesPerSecond: limit } = rebuild;
      return [id, limit === undefined ? bytes : Math.min(limit, bytes ?? limit)];
    }),
  );
}

/** A volume whose row is gone is no longer rebuilt; its rebuild's limit until then does not matter. */
function engineOf(spec: BandwidthSpec | undefined): BandwidthSpec['dataEngine'] {
  return spec?.dataEngine ?? 'v1';
}

/** The volume's own limit in place of its cluster's. It takes no part in the share of its node. */
function ownBytes(spec: BandwidthSpec | undefined): number | undefined {
  const limit = spec?.replicaRebuildingBandwidthLimit ?? 0;
  return limit === 0 ? undefined : limit * MIB;
}

function shareOf(nodeBytes: number, sharers: number): number | undefined {
  if (nodeBytes === 0) return undefined;
  return Math.max(REBUILD_BANDWIDTH_MIN, Math.floor(nodeBytes / Math.max(1, sharers)));
}
