/** Freezing the heads of all copies at one moment. */
import type { Ask } from '../replica/commands.js';
import { LAYERS_MAX } from '../replica/layer-tree.js';
import { tooManyLayers } from '../replica/replica-faults.js';
import type { Copies } from './copies.js';

/** Layers that users can't take: rebuilds and drops need some, and a full chain must not keep a copy from returning. */
const SYSTEM_LAYERS = 10;

export type Freeze = Omit<Ask<'snapshot'>, 'epoch'>;

/**
 * Freezes the head of every copy that takes writes, as the same layer. The caller sees to it that nothing is being
 * written. A copy that fails is dropped.
 *
 * @throws StorageFault `replica.too_many_layers` before anything is done
 */
export async function freezeAll(copies: Copies, epoch: number, freeze: Freeze): Promise<void> {
  await requireRoom(copies, epoch, freeze);
  await Promise.all(
    copies.all
      .filter(({ mode }) => mode !== 'ERR')
      .map((copy) =>
        copy.control
          .command('snapshot', { epoch, ...freeze })
          .catch((error: unknown) => copies.fail(copy, error)),
      ),
  );
  await copies.membership.settled();
  copies.requireServing();
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
