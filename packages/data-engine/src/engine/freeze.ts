/** Freezing the heads of all copies at one moment. */
import crypto from 'node:crypto';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { Ask } from '../replica/commands.js';
import { LAYERS_MAX } from '../replica/layer-tree.js';
import { tooManyLayers } from '../replica/replica-faults.js';
import { isNoSpace } from './changes.js';
import type { Copies } from './copies.js';
import type { ReplicaLink } from './replica-link.js';

/** Layers that users can't take: rebuilds and drops need some, and a full chain must not keep a copy from returning. */
const SYSTEM_LAYERS = 10;

export type Freeze = Pick<Ask<'snapshot'>, 'layer' | 'sizeBytes'>;

/**
 * Freezes the head of every copy that takes writes, as the same layer. The caller sees to it that nothing is being
 * written. A copy that fails is dropped; but where the disk of a current one is full, nothing has been done on any.
 *
 * @throws StorageFault `replica.too_many_layers` before anything is done, `disk.no_space`
 */
export async function freezeAll(copies: Copies, epoch: number, freeze: Freeze): Promise<void> {
  await requireRoom(copies, epoch, freeze);
  const headId = crypto.randomUUID();
  const targets = copies.all.filter(({ mode }) => mode !== 'ERR');
  const failures = new Map<ReplicaLink, unknown>();
  await Promise.all(
    targets.map((copy) =>
      copy
        .change('snapshot', { epoch, headId, ...freeze })
        .catch((error: unknown) => void failures.set(copy, error)),
    ),
  );
  const full = [...failures].filter(([{ mode }, error]) => mode === 'RW' && isNoSpace(error));
  if (full.length > 0) {
    await Promise.all(targets.map((copy) => takeBack(copies, copy, epoch, freeze.layer.id)));
    await copies.membership.settled();
    copies.requireServing();
    throw noSpace(full.map(([copy]) => copy));
  }
  const [refusal] = [...failures].filter(([copy, error]) => !copies.fail(copy, error));
  await copies.membership.settled();
  copies.requireServing();
  // Of the last copy, which is kept: then there is no such layer.
  if (refusal !== undefined) throw refusal[1];
}

/** Also from those that failed: one may have done it, and have failed at clearing up afterwards. */
async function takeBack(copies: Copies, copy: ReplicaLink, epoch: number, layerId: string): Promise<void> {
  try {
    await copy.change('unfreeze', { epoch, layerId, headId: crypto.randomUUID() });
  } catch (error) {
    copies.fail(copy, error);
  }
}

function noSpace(full: readonly ReplicaLink[]): StorageFault {
  const places = full.map(({ replicaId, address }) => `copy ${replicaId} on node ${address.nodeId}`);
  return new StorageFault('disk.no_space', {
    publicMessage: `the disk is full of ${places.join(', ')}`,
    cures: ['free space on that disk, or move the copy to another one'],
    context: { replicaIds: full.map(({ replicaId }) => replicaId).join() },
  });
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
      // The head is a layer too, and freezing it makes one more.
      if (chain.layers.length + 2 > max) throw tooManyLayers(max);
    }),
  );
  copies.requireServing();
}
