/** Comparable form of an agent's reports, and the repeat of one that still holds (docs/adr/0344-repeated-reports.md). */

import type { DiskReport, Heartbeat, HeartbeatRepeat } from './agent-protocol.js';
import { answerNews } from './disk-answers.js';

/**
 * A report's content as a text that is equal for equal reports. Of stamps it contains only what does not advance: those are sent with
 * each repeated heartbeat until they are confirmed. Of a disk's response times it contains only what is news.
 */
export function reportText({ node, disks, replicas, engines }: Heartbeat): string {
  return JSON.stringify([
    node,
    sortedBy(disks.map(withoutAdvance), ({ diskId }) => diskId),
    sortedBy(replicas, ({ replicaId }) => replicaId),
    sortedBy(engines, ({ volumeId }) => volumeId),
  ]);
}

function withoutAdvance(disk: DiskReport) {
  const { stamp, answers } = disk;
  const told = { ...disk, answers: answers === undefined ? undefined : answerNews(answers) };
  if (stamp === undefined) return told;
  return {
    ...told,
    stamp: { isOpen: stamp.isOpen, fileId: stamp.fileId ?? null, hasOne: stamp.id !== null },
  };
}

function sortedBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Stamps of a report that are not among the confirmed ones, by disk. */
export function unconfirmedStamps(
  { disks }: Pick<Heartbeat, 'disks'>,
  confirmed: ReadonlyMap<string, string | null>,
): HeartbeatRepeat['stamps'] {
  return disks.flatMap(({ diskId, stamp }) =>
    stamp === undefined || confirmed.get(diskId) === stamp.id ? [] : [{ diskId, stamp }],
  );
}
