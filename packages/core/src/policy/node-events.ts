/** Events about a node: what its agent does, and what users change of it. */
import type { ClusterEvent } from '../model/event.js';
import type { StorageNode } from '../model/node.js';

type NodeNews = Pick<ClusterEvent, 'type' | 'severity' | 'message'>;

export function nodeEvent(
  { clusterId, id }: Pick<StorageNode, 'clusterId' | 'id'>,
  news: NodeNews,
  at: Date,
): ClusterEvent {
  return { clusterId, ...news, subject: { kind: 'node', id }, volumeId: undefined, at };
}

/** Events of a change of what is wanted of a node: the same ones whichever request made the change. */
export function nodeChangeEvents(before: StorageNode, after: StorageNode, at: Date): ClusterEvent[] {
  return [cordonNews(before, after)].flatMap((news) =>
    news === undefined ? [] : [nodeEvent(before, news, at)],
  );
}

function cordonNews(before: StorageNode, { name, cordoned }: StorageNode): NodeNews | undefined {
  if (before.cordoned === cordoned) return undefined;
  return cordoned
    ? { type: 'NodeCordoned', severity: 'warning', message: `node ${name} is cordoned` }
    : { type: 'NodeUncordoned', severity: 'info', message: `node ${name} is not cordoned any more` };
}
