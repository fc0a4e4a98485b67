import { compareIds } from '../../model/ids.js';
import { spaceLimits } from '../../policy/disk-space.js';
import { EXT_FILE_BYTES_END } from '../../policy/file-size-limit.js';
import { diskTypeOf } from '../filters/disk-type.filter.js';
import type { CureChange } from '../framework/cure-change.js';
import type { PlacementCycle } from '../framework/framework.js';
import { nodeObstaclesOf } from './obstacles.js';
import type { PlacementQuestion } from './placement-question.js';
import { smallestDisk } from './smallest-amounts.js';

/** Nodes for which a further disk is tried: any of them is as good as the next. */
const NODES_TRIED_MAX = 2;

/** What could be bought: a disk for a node that lacks only that, a node, a node in a new zone. */
export function hardwareChanges(question: PlacementQuestion, cycle: PlacementCycle): CureChange[] {
  const { request, fleet } = cycle;
  const bytes = smallestDisk(request, spaceLimits(fleet.settings));
  if (bytes === undefined) return [];
  const { nodeSelector, diskSelector } = request;
  const disk = {
    diskType: diskTypeOf(request.dataEngine),
    fileSystem: request.dataEngine === 'v1' && request.sizeBytes >= EXT_FILE_BYTES_END ? 'xfs' : null,
    diskTags: diskSelector,
    bytes,
  } as const;
  const obstaclesOf = nodeObstaclesOf(question, cycle);
  const onNodes = fleet.nodes
    .filter((node) => obstaclesOf(node).length === 0)
    .sort((a, b) => compareIds(a.name, b.name) || compareIds(a.id, b.id))
    .slice(0, NODES_TRIED_MAX)
    .map((node): CureChange => ({ kind: 'add-disk', nodeId: node.id, nodeName: node.name, ...disk }));
  const anyZone: CureChange = { kind: 'add-node', zone: null, tags: nodeSelector, ...disk };
  return [...onNodes, anyZone, { ...anyZone, zone: unusedZoneName(cycle) }];
}

function unusedZoneName({ fleet }: PlacementCycle): string {
  const zones = new Set(fleet.nodes.map(({ zone }) => zone));
  let name = 'new-zone';
  // Ends after as many names as there are zones.
  for (let number = 2; zones.has(name); number += 1) name = `new-zone-${number}`;
  return name;
}
