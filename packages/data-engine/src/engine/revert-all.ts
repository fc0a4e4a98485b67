/**
 * Revert of all copies at once. First each freezes its head as a layer of the system: with it, every copy has the files that its new
 * head needs. A copy whose disk has no room for them refuses there, where it can be taken back; the revert itself takes no space.
 *
 * If the engine dies in between, that layer is one of those that the next purge removes.
 */
import crypto from 'node:crypto';
import { REVERT_LAYER_NAME } from '../protocol/layers.js';
import type { Copies } from './copies.js';
import { freezeAll, unfreezeAll } from './freeze.js';
import { failuresOfCommand, judgeCommand, refusalOf } from './judge-command.js';
import type { ReplicaLink } from './replica-link.js';

export type Revert = {
  readonly layerId: string;
  /** The request's idempotency key. */
  readonly revertId: string | undefined;
  readonly sizeBytes: number;
  readonly createdAt: string;
};

/**
 * The caller makes sure that no write is in flight.
 *
 * @throws StorageFault `disk.no_space`, `replica.too_many_layers`; or what all current copies have failed with. None has reverted then
 */
export async function revertAll(copies: Copies, epoch: number, revert: Revert): Promise<void> {
  const { layerId, revertId, sizeBytes, createdAt } = revert;
  const headId = crypto.randomUUID();
  const name = `${REVERT_LAYER_NAME}${headId}`;
  const begun = { id: crypto.randomUUID(), name, origin: 'system' as const, createdAt, drop: null };
  await freezeAll(copies, epoch, { sizeBytes, layer: begun });
  const targets = copies.all.filter(({ mode }) => mode !== 'ERR');
  const failures = new Map(
    await failuresOfCommand(targets, (copy) => copy.change('revert', { epoch, layerId, headId, revertId })),
  );
  for (const copy of await revertedOf([...failures.keys()], epoch, headId)) failures.delete(copy);
  const { costs, refusedBy } = judgeCommand(targets, failures, false);
  for (const copy of costs) copies.fail(copy, failures.get(copy));
  if (refusedBy.length > 0) await unfreezeAll(copies, epoch, begun.id);
  await copies.membership.recordDurable();
  copies.requireServing();
  if (refusedBy.length > 0) throw refusalOf(refusedBy, failures);
}

/** Copies that have reverted although their answer was an error, or was lost. */
async function revertedOf(
  failed: readonly ReplicaLink[],
  epoch: number,
  headId: string,
): Promise<readonly ReplicaLink[]> {
  const asked = await Promise.all(
    failed.map(async (copy) => {
      const chain = await copy.control.command('chain', { epoch }).catch(() => undefined);
      return chain?.head.id === headId ? [copy] : [];
    }),
  );
  return asked.flat();
}
