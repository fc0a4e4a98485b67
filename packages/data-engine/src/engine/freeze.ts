/** Snapshot barrier: freezes the heads of all copies at the same point in the order of writes. */
import crypto from 'node:crypto';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { Ask } from '../protocol/commands.js';
import { LAYERS_MAX } from '../protocol/layers.js';
import { tooManyLayers } from '../protocol/replica-faults.js';
import { isNoSpace } from './changes.js';
import type { Copies } from './copies.js';
import type { ReplicaLink } from './replica-link.js';

/**
 * Layers reserved for the system: rebuilds and drop marks need some, and a chain filled by users must not keep a copy
 * from returning.
 */
const SYSTEM_LAYERS = 10;

export type Freeze = Pick<Ask<'snapshot'>, 'layer' | 'sizeBytes'>;

/**
 * Freezes the head of every copy that takes writes, as the same layer. The caller makes sure that no write is in
 * flight. A copy that fails is dropped; but if the disk of a current one is full, the layer is rolled back on all of
 * them.
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
    await copies.membership.recordDurable();
    copies.requireServing();
    throw noSpace(full.map(([copy]) => copy));
  }
  const [refusal] = [...failures].filter(([copy, error]) => !copies.fail(copy, error));
  await copies.membership.recordDurable();
  copies.requireServing();
  // The last copy failed and is kept, so the layer does not exist.
  if (refusal !== undefined) throw refusal[1];
}

/** Also asks copies that failed: one may have frozen its head, and have failed in the clean-up afterwards. */
async function takeBack(copies: Copies, copy: ReplicaLink, epoch: number, layerId: string): Promise<void> {
  try {
    await copy.change('unfreeze', { epoch, layerId, headId: crypto.randomUUID() });
  } catch (error) {
    copies.fail(copy, error);
  }
}

function noSpace(full: readonly ReplicaLink[]): StorageFault {
  const copies = full.map(({ replicaId, address }) => `copy ${replicaId} on node ${address.nodeId}`);
  return new StorageFault('disk.no_space', {
    publicMessage: `the disk is full of ${copies.join(', ')}`,
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
      // Counts two more than the listed layers: the head, and the one that this freeze adds.
      if (chain.layers.length + 2 > max) throw tooManyLayers(max);
    }),
  );
  copies.requireServing();
}
