/** Snapshot barrier: freezes the heads of all copies at the same point in the order of writes. */
import crypto from 'node:crypto';
import type { Ask } from '../protocol/commands.js';
import { LAYERS_MAX } from '../protocol/layers.js';
import { tooManyLayers } from '../protocol/replica-faults.js';
import type { Failures } from './changes.js';
import type { Copies } from './copies.js';
import { failuresOfCommand, judgeCommand, refusalOf } from './judge-command.js';
import type { ReplicaLink } from './replica-link.js';

/**
 * Layers reserved for the system: rebuilds and drop marks need some, and a chain filled by users must not keep a copy
 * from returning.
 */
const SYSTEM_LAYERS = 10;

export type Freeze = Pick<Ask<'snapshot'>, 'layer' | 'sizeBytes'>;

/**
 * Freezes the head of every copy that takes writes, as the same layer. The caller makes sure that no write is in
 * flight. A copy that fails is dropped; but if the disk of a current one has no room, or all current ones have failed, the layer is
 * rolled back on all of them.
 *
 * @throws StorageFault `replica.too_many_layers` before anything is done, `disk.no_space`, `disk.file_too_large`
 */
export async function freezeAll(copies: Copies, epoch: number, freeze: Freeze): Promise<void> {
  await requireRoom(copies, epoch, freeze);
  const headId = crypto.randomUUID();
  const targets = copies.all.filter(({ mode }) => mode !== 'ERR');
  const failures = await failuresOfCommand(targets, (copy) =>
    copy.change('snapshot', { epoch, headId, ...freeze }),
  );
  const { costs, refusedBy } = judgeCommand(targets, failures, true);
  for (const copy of costs) copies.fail(copy, failures.get(copy));
  if (refusedBy.length > 0) await unfreezeAll(copies, epoch, freeze.layer.id);
  await copies.membership.recordDurable();
  copies.requireServing();
  if (refusedBy.length > 0) throw refusalOf(refusedBy, failures);
}

/**
 * Rolls a layer back on every copy that may have it, including copies that failed to freeze their heads: an earlier command may still
 * be on its way to them, and is refused then.
 */
export async function unfreezeAll(copies: Copies, epoch: number, layerId: string): Promise<void> {
  const targets = copies.all.filter(({ mode }) => mode !== 'ERR');
  const failures = await failuresOfCommand(targets, (copy) =>
    copy.change('unfreeze', { epoch, layerId, headId: crypto.randomUUID() }),
  );
  if (failures.size === 0) return;
  const stillFrozen = await frozenOf(failures, epoch, layerId);
  const areAllFrozen = targets.every((copy) => stillFrozen.get(copy) === true);
  for (const [copy, error] of failures) {
    if (stillFrozen.get(copy) !== areAllFrozen) copies.fail(copy, error);
  }
}

/** Whether copies that failed to roll a layer back have it; those that do not answer are left out. */
async function frozenOf(
  failures: Failures,
  epoch: number,
  layerId: string,
): Promise<ReadonlyMap<ReplicaLink, boolean>> {
  const frozen = new Map<ReplicaLink, boolean>();
  await Promise.all(
    [...failures.keys()].map(async (copy) => {
      const chain = await copy.control.command('chain', { epoch }).catch(() => undefined);
      if (chain !== undefined)
        frozen.set(
          copy,
          chain.layers.some(({ id }) => id === layerId),
        );
    }),
  );
  return frozen;
}

async function requireRoom(copies: Copies, epoch: number, { layer }: Freeze): Promise<void> {
  const max = layer.origin === 'user' ? LAYERS_MAX - SYSTEM_LAYERS : LAYERS_MAX;
  await Promise.all(
    copies.withMode('RW').map(async (copy) => {
      const chain = await copy.control.command('chain', { epoch }).catch((error: unknown) => {
        copies.fail(copy, error);
        return undefined;
      });
      if (chain === undefined || chain.layers.some(({ id }) => id === layer.id)) return;
      // Counts two more than the listed layers: the head, and the one that this freeze adds.
      if (chain.layers.length + 2 > max) throw tooManyLayers(max);
    }),
  );
  copies.requireServing();
}
