/** A cure of the scheduler as the request that carries it out, or as the page on which a user does. */
import type { Action } from '@holdfast/access/permissions.js';
import type { PlannedRequest } from '../api/dry-run';
import type { Disk, PlacementExplanation, StorageNode, Volume } from '../api/types';
import { paths } from '../paths';

export type CureChange = PlacementExplanation['cures'][number]['changes'][number];

export type CureFacts = {
  readonly clusterId: string;
  readonly volume: Pick<Volume, 'id' | 'nodeSelector' | 'diskSelector'>;
  readonly nodes: readonly Pick<StorageNode, 'id' | 'tags'>[];
  readonly disks: readonly Pick<Disk, 'id' | 'tags'>[];
};

/** `open`: it is done by hand, at the place that the page is about. */
export type CureWay =
  | { readonly kind: 'request'; readonly request: PlannedRequest }
  | { readonly kind: 'open'; readonly href: string; readonly label: string };

/** `undefined`: there is nothing to press, as for a wait. */
export function cureWay(change: CureChange, facts: CureFacts): CureWay | undefined {
  const body = bodyOf(change, facts);
  const path = body === undefined ? undefined : addressOf(change, facts);
  if (body !== undefined && path !== undefined) {
    return {
      kind: 'request',
      request: { method: change.setting === undefined ? 'PATCH' : 'PUT', path, body },
    };
  }
  return placeOf(change);
}

/** Right that the request needs. */
export function actionOf({ path }: PlannedRequest): Action {
  const [, , , kind] = path.split('/');
  if (kind === 'settings') return 'setting:write';
  return kind === 'nodes' ? 'node:write' : 'volume:write';
}

type Body = NonNullable<PlannedRequest['body']>;

/** Only cures with a dry run: the others are done on the page of their place. */
function bodyOf(change: CureChange, facts: CureFacts): Body | undefined {
  const { kind, tags = [], selector, field, to } = change;
  if (Object.hasOwn(NODE_BODIES, kind)) return NODE_BODIES[kind];
  switch (kind) {
    case 'enable-disk-scheduling':
      return { allowScheduling: true };
    case 'cancel-disk-eviction':
      return { evictionRequested: false };
    case 'tag-node':
      return withTags(facts.nodes.find(({ id }) => id === change.nodeId)?.tags, tags);
    case 'tag-disk':
      return withTags(facts.disks.find(({ id }) => id === change.diskId)?.tags, tags);
    case 'remove-selector-tags':
      return selectorBody(facts, selector, (before) => before.filter((tag) => !tags.includes(tag)));
    case 'add-selector-tags':
      return selectorBody(facts, selector, (before) => [...before, ...tags]);
    case 'lower-reserve':
      return { storageReserved: change.toBytes };
    case 'set-override':
      return field === undefined ? undefined : { [field]: to };
    case 'set-setting':
      return { value: to };
    default:
      return undefined;
  }
}

/** `undefined`: ending a maintenance has no dry run. */
const NODE_BODIES: Readonly<Record<string, Body | undefined>> = {
  'uncordon-node': { cordoned: false },
  'enable-node-scheduling': { allowScheduling: true },
  'cancel-node-eviction': { evictionRequested: false },
  'end-node-maintenance': undefined,
};

/** Tags are set as a whole: without the present ones the change is unknown. */
function withTags(before: readonly string[] | undefined, more: readonly string[]): Body | undefined {
  return before === undefined ? undefined : { tags: [...new Set([...before, ...more])] };
}

function selectorBody(
  { volume }: CureFacts,
  selector: string | undefined,
  changed: (before: readonly string[]) => string[],
): Body | undefined {
  if (selector !== 'nodeSelector' && selector !== 'diskSelector') return undefined;
  return { [selector]: changed(volume[selector]) };
}

function addressOf({ setting, nodeId, diskId }: CureChange, { clusterId, volume }: CureFacts): string {
  const cluster = `/clusters/${clusterId}`;
  if (setting !== undefined) return `${cluster}/settings/${setting}`;
  if (nodeId === undefined) return `${cluster}/volumes/${volume.id}`;
  return diskId === undefined ? `${cluster}/nodes/${nodeId}` : `${cluster}/nodes/${nodeId}/disks/${diskId}`;
}

function placeOf({ kind, nodeId, nodeName, diskId, diskName }: CureChange): CureWay | undefined {
  if (kind === 'add-node') return { kind: 'open', href: paths.nodes, label: 'Open nodes' };
  if (nodeId === undefined) return undefined;
  return diskId === undefined
    ? { kind: 'open', href: paths.node(nodeId), label: `Open ${nodeName ?? 'its node'}` }
    : { kind: 'open', href: paths.disk(nodeId, diskId), label: `Open ${nodeName}, ${diskName}` };
}
