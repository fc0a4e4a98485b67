import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ClusterId, type DiskId, type NodeId } from '@holdfast/core/model/ids.js';
import { changedLabels, type Labels } from '@holdfast/core/model/labels.js';
import {
  type DiskAddition,
  decideDiskAddition,
  wrongWithPath,
} from '@holdfast/core/policy/decide-disk-change.js';
import { diskAddedNews, diskEvent } from '@holdfast/core/policy/disk-events.js';
import { pendingDisk } from '@holdfast/core/policy/disk-wishes.js';
import { hasToAct, retryConflicts, type UseCasePorts } from './use-case.js';

export type AddDisk = {
  clusterId: ClusterId;
  nodeId: NodeId;
  disk: DiskAddition & {
    tags: readonly string[];
    allowScheduling: boolean;
    storageReservedBytes: number;
    labels?: Labels | undefined;
  };
  /** Given by the caller, so that a request that is repeated after a crash adds no second disk. */
  diskId?: DiskId | undefined;
};

/**
 * Adds a disk to a node. Its agent gets it with the answer to its next heartbeat, and reports what it found at the path.
 *
 * @throws StorageFault `node.not_found`, `disk.exists`, `request.invalid`
 */
export function addDisk(ports: UseCasePorts, input: AddDisk): Promise<DiskId> {
  const diskId = input.diskId ?? asId<DiskId>(ports.random.id());
  return retryConflicts(async () => {
    requirePath(input.disk.path);
    const { nodes, disks } = await ports.store.loadFleet(input.clusterId);
    const node = nodes.find(({ id }) => id === input.nodeId);
    if (node === undefined) {
      throw new StorageFault('node.not_found', { publicMessage: `the cluster has no node ${input.nodeId}` });
    }
    if (disks.some(({ id }) => id === diskId)) return diskId;
    const { tags, allowScheduling, storageReservedBytes, labels, ...addition } = input.disk;
    const named = { ...addition, name: addition.name ?? addition.path.split('/').at(-1) ?? '' };
    const ofNode = disks.filter((disk) => disk.nodeId === node.id);
    hasToAct(decideDiskAddition(named, node, ofNode));
    const now = ports.clock.now();
    const given = changedLabels(undefined, labels ?? {});
    const spec = {
      tags,
      allowScheduling,
      storageReservedBytes,
      ...(given === undefined ? {} : { labels: given }),
    };
    const disk = pendingDisk(named, spec, { diskId, nodeId: node.id, now });
    await ports.store.commit({ kind: 'node', nodeId: node.id, ifVersion: node.version }, [
      { kind: 'disk.create', disk },
      { kind: 'event', event: diskEvent(input.clusterId, disk, diskAddedNews(disk, node.name), now) },
    ]);
    return diskId;
  });
}

function requirePath(given: string): void {
  const wrong = wrongWithPath(given);
  if (wrong === undefined) return;
  throw new StorageFault('request.invalid', {
    publicMessage: `path ${wrong}`,
    errors: [{ pointer: '/path', detail: wrong }],
  });
}
