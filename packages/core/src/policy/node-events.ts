/** Events about a node: what its agent does, and what users change of it. */
import type { ClusterEvent } from '../model/event.js';
import type { NodeMaintenance, StorageNode } from '../model/node.js';
import { changedFields } from './changed-fields.js';

type NodeNews = Pick<ClusterEvent, 'type' | 'message'>;

export function nodeEvent(
  { clusterId, id }: Pick<StorageNode, 'clusterId' | 'id'>,
  news: NodeNews,
  at: Date,
): ClusterEvent {
  return { clusterId, ...news, subject: { kind: 'node', id }, volumeId: undefined, at };
}

export function readinessEvent(node: StorageNode, isReady: boolean, at: Date): ClusterEvent {
  const news = isReady
    ? ({ type: 'NodeReady', message: `node ${node.name} is ready` } as const)
    : ({ type: 'NodeNotReady', message: `node ${node.name} does not answer` } as const);
  return nodeEvent(node, news, at);
}

/** Events of a change of what is wanted of a node: the same ones whichever request made the change. */
export function nodeChangeEvents(before: StorageNode, after: StorageNode, at: Date): ClusterEvent[] {
  const news = [
    cordonNews,
    maintenanceNews,
    drainNews,
    drainStatusNews,
    evictionNews,
    forgetNews,
    specNews,
  ].map((tell) => tell(before, after));
  return news.flatMap((one) => (one === undefined ? [] : [nodeEvent(before, one, at)]));
}

const CHANGED_FIELDS = ['allowScheduling', 'tags', 'labels', 'zone', 'region'] as const;

function specNews(before: StorageNode, after: StorageNode): NodeNews | undefined {
  const changed = changedFields(before, after, CHANGED_FIELDS);
  return changed === undefined
    ? undefined
    : { type: 'NodeChanged', message: `node ${after.name}: ${changed}` };
}

function evictionNews(before: StorageNode, { name, evictionRequested }: StorageNode): NodeNews | undefined {
  if (before.evictionRequested === evictionRequested) return undefined;
  return evictionRequested
    ? { type: 'NodeEvictionRequested', message: `every replica of node ${name} is to move away` }
    : { type: 'NodeEvictionCancelled', message: `replicas of node ${name} stay where they are` };
}

function forgetNews(before: StorageNode, { name, forget }: StorageNode): NodeNews | undefined {
  if (forget === undefined || before.forget !== undefined) return undefined;
  const message = `node ${name} is gone for good: its certificate is revoked, and its copies are given up`;
  return { type: 'NodeForgetRequested', message };
}

export function forgottenEvent(node: StorageNode, at: Date): ClusterEvent {
  return nodeEvent(node, { type: 'NodeForgotten', message: `node ${node.name} is forgotten` }, at);
}

function cordonNews(before: StorageNode, { name, cordoned }: StorageNode): NodeNews | undefined {
  if (before.cordoned === cordoned) return undefined;
  return cordoned
    ? { type: 'NodeCordoned', message: `node ${name} is cordoned` }
    : { type: 'NodeUncordoned', message: `node ${name} is not cordoned any more` };
}

function maintenanceNews(before: StorageNode, { name, maintenance }: StorageNode): NodeNews | undefined {
  const known = before.maintenance;
  if (maintenance === undefined)
    return known === undefined
      ? undefined
      : { ...ENDED, message: `node ${name} is not in maintenance any more` };
  const isSame =
    known?.until.getTime() === maintenance.until.getTime() && known.reason === maintenance.reason;
  if (isSame) return undefined;
  const type = known === undefined ? 'NodeMaintenanceStarted' : 'NodeMaintenanceChanged';
  return { type, message: `node ${name} is ${maintenanceText(maintenance)}` };
}

function drainNews(before: StorageNode, { name, drain }: StorageNode): NodeNews | undefined {
  if (before.drain?.policy === drain?.policy) return undefined;
  if (drain === undefined) {
    const message = `node ${name} is not drained any more`;
    return { type: 'NodeDrainCancelled', message };
  }
  const type = before.drain === undefined ? 'NodeDrainStarted' : 'NodeDrainChanged';
  return { type, message: `node ${name} is drained with policy ${drain.policy}` };
}

/** What a drain has come to. Its first status is news too, unless it says what the start has said. */
function drainStatusNews(before: StorageNode, { name, drainStatus }: StorageNode): NodeNews | undefined {
  const known = before.drainStatus?.state;
  if (drainStatus === undefined || drainStatus.state === (known ?? 'draining')) return undefined;
  switch (drainStatus.state) {
    case 'drained':
      return { type: 'NodeDrained', message: `node ${name} may be switched off` };
    case 'blocked': {
      const first = drainStatus.waitingFor[0]?.message ?? 'something is in its way';
      return {
        type: 'NodeDrainBlocked',
        message: `the drain of node ${name} waits: ${first}`,
      };
    }
    case 'draining':
      return { type: 'NodeDrainResumed', message: `the drain of node ${name} goes on` };
  }
}

const ENDED = { type: 'NodeMaintenanceEnded' } as const;

/** To the second, as the end of a sentence that begins with the node. */
export function maintenanceText({ until, reason }: NodeMaintenance): string {
  const end = `${until.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return `in maintenance until ${end}${reason === '' ? '' : `: ${reason}`}`;
}
