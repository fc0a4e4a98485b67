/** Queries the copies whose replica processes lived through a crash for what the others may have lost in it. */
import { decodeStretches } from '../protocol/stretches.js';
import type { ReplicaLink } from './replica-link.js';

/** The union of their answers, ordered; `undefined` if one of them can't answer. */
export async function unflushedStretches(
  links: readonly ReplicaLink[],
  epoch: number,
): Promise<[stretch: number, blocks: number][] | undefined> {
  const lists = await Promise.all(links.map((link) => listOf(link, epoch).catch(() => undefined)));
  const union = new Map<number, number>();
  for (const list of lists) {
    if (list === undefined) return undefined;
    for (const [stretch, blocks] of list) union.set(stretch, (union.get(stretch) ?? 0) | blocks);
  }
  return [...union].sort(([a], [b]) => a - b);
}

async function listOf({ control }: ReplicaLink, epoch: number): Promise<[number, number][] | undefined> {
  const list: [number, number][] = [];
  for (let from: number | null = 0; from !== null; ) {
    const reply: { stretches: string | null; next: number | null } = await control.command('unflushed', {
      epoch,
      from,
    });
    if (reply.stretches === null) return undefined;
    list.push(...decodeStretches(reply.stretches));
    from = reply.next;
  }
  return list;
}
