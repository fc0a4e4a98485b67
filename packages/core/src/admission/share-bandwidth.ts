import { MIB } from '../model/bytes.js';
import type { NodeId, RebuildId } from '../model/ids.js';
import { REBUILD_BANDWIDTH_MIN, type Rebuild, standsStill } from '../model/rebuild.js';
import type { ClusterSettings } from '../model/setting.js';

/**
 * How fast each of the running rebuilds may copy: its own limit, and an equal share of what its target node may receive.
 * Those that stand still leave their share to the others. `undefined`: as fast as it can.
 */
export function shareBandwidth(
  running: readonly Rebuild[],
  settings: ClusterSettings,
): ReadonlyMap<RebuildId, number | undefined> {
  const nodeBytes = settings['replica-rebuilding-bandwidth-limit'] * MIB;
  const copying = new Map<NodeId, number>();
  for (const rebuild of running.filter((one) => !standsStill(one))) {
    copying.set(rebuild.targetNodeId, (copying.get(rebuild.targetNodeId) ?? 0) + 1);
  }
  return new Map(
    running.map(({ id, targetNodeId, bandwidthBytesPerSecond: own }) => {
      const sharers = Math.max(1, copying.get(targetNodeId) ?? 0);
      const share =
        nodeBytes === 0 ? undefined : Math.max(REBUILD_BANDWIDTH_MIN, Math.floor(nodeBytes / sharers));
      return [id, own === undefined ? share : Math.min(own, share ?? own)];
    }),
  );
}
