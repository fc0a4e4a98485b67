/**
 * Layer agreement at attach: ensures that all copies have the same snapshots and the same parent of the head before they are served
 * together.
 *
 * An engine that died while it took a snapshot, or reverted to one, leaves copies that differ. A snapshot that only some copies have
 * is rolled back: its success was never reported, and nothing was written since. If copies still differ, for example when only some
 * have marked a snapshot as removed, one group of equal copies is kept, and the others are rebuilt: the largest group with a copy
 * whose process has kept running, if there is any. Only such a copy is certain to have the acknowledged but unflushed writes, and it
 * has made every acknowledged layer change.
 */
import crypto from 'node:crypto';
import { type ChainFacts, chainUpTo, isPurgeable } from '../protocol/layers.js';
import type { ReplicaLink } from './replica-link.js';

type Chained = { link: ReplicaLink; chain: ChainFacts };

/**
 * @returns the copies that are excluded, because they do not answer or disagree with the kept group; nearly always
 *   empty
 */
export async function agreeOnLayers(links: readonly ReplicaLink[], epoch: number): Promise<ReplicaLink[]> {
  let chained = await askAll(links, epoch);
  if (!agree(chained)) {
    // A copy that fails to roll the snapshot back still disagrees in the next comparison.
    await Promise.all(chained.map((one) => takeBack(one, chained, epoch).catch(() => undefined)));
    chained = await askAll(links, epoch);
  }
  const answered = chained.map(({ link }) => link);
  const silent = links.filter((link) => !answered.includes(link));
  const groups = new Map<string, ReplicaLink[]>();
  for (const { link, chain } of chained) {
    const key = signature(chain);
    groups.set(key, [...(groups.get(key) ?? []), link]);
  }
  // Of groups of equal size, the one whose copy was named first.
  const [chosen, ...others] = [...groups.values()].sort(
    (a, b) => Number(hasKept(b)) - Number(hasKept(a)) || b.length - a.length,
  );
  return chosen === undefined ? silent : [...silent, ...others.flat()];
}

function hasKept(group: readonly ReplicaLink[]): boolean {
  return group.some(({ opened }) => opened.kept);
}

async function askAll(links: readonly ReplicaLink[], epoch: number): Promise<Chained[]> {
  const asked = await Promise.allSettled(
    links.map(async (link) => {
      const chain = await link.control.command('chain', { epoch });
      link.headId = chain.head.id;
      return { link, chain };
    }),
  );
  return asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
}

async function takeBack({ link, chain }: Chained, all: readonly Chained[], epoch: number): Promise<void> {
  const top = chain.layers.find(({ id }) => id === chain.head.parentId);
  if (top === undefined || top.origin !== 'user' || chain.head.heldBytes > 0) return;
  const isOnAll = all.every((other) => other.chain.layers.some(({ id }) => id === top.id));
  if (!isOnAll) await link.change('unfreeze', { epoch, layerId: top.id, headId: crypto.randomUUID() });
}

function agree(chained: readonly Chained[]): boolean {
  return new Set(chained.map(({ chain }) => signature(chain))).size <= 1;
}

/**
 * The facts that must be equal on all copies: live snapshots, the head's ancestors, and the last revert. Other layers
 * come and go by purges, and are not compared.
 */
function signature({ layers, head, lastRevertId }: ChainFacts): string {
  const wanted = layers.filter((layer) => !isPurgeable(layer) && layer.drop === null).map(({ id }) => id);
  const path = chainUpTo(layers, head.parentId).map(({ id }) => id);
  return `${wanted.sort().join()} ${path.filter((id) => wanted.includes(id)).join()} ${lastRevertId ?? ''}`;
}
