import type { NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import type { ReconcilerPorts } from './reconciler-ports.js';

/** Ids per page: large enough for few round trips, small enough to hold in memory. */
const PAGE = 500;
/** Pages per walk: half a million volumes. What lies behind is reached by the next sweep's shorter list. */
const PAGES_MAX = 1000;

type ListPage = (options: { limit: number; afterId?: VolumeId }) => Promise<VolumeId[]>;

export function wakeVolumesOfNode(ports: ReconcilerPorts, nodeId: NodeId): Promise<number> {
  return wakeAll(ports, (options) => ports.store.listVolumesOfNode(nodeId, options));
}

export function wakeVolumesToReconcile(ports: ReconcilerPorts): Promise<number> {
  const now = ports.clock.now();
  return wakeAll(ports, (options) => ports.store.listVolumesToReconcile({ ...options, now }));
}

async function wakeAll({ queue }: ReconcilerPorts, list: ListPage): Promise<number> {
  let afterId: VolumeId | undefined;
  let count = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const ids = await list(afterId === undefined ? { limit: PAGE } : { limit: PAGE, afterId });
    for (const volumeId of ids) await queue.wake({ kind: 'volume', volumeId });
    count += ids.length;
    afterId = ids.at(-1);
    if (ids.length < PAGE) return count;
  }
  return count;
}
