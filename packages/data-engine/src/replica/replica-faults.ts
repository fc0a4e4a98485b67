import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';

/** A chain may not grow without bound: every read of an unwritten block walks it. Longhorn's bound. */
export const LAYERS_MAX = 250;

export function staleEpoch(epoch: number, newest: number): StorageFault {
  return new StorageFault('engine.stale_epoch', {
    publicMessage: `epoch ${epoch} has been replaced by ${newest}`,
    context: { epoch, newest },
  });
}

export function tooManyLayers(): StorageFault {
  return new StorageFault('replica.too_many_layers', {
    publicMessage: `a copy holds at most ${LAYERS_MAX} layers`,
    cures: ['delete snapshots that are no longer needed'],
  });
}

export function unaligned(): StorageFault {
  return new StorageFault('request.invalid', {
    publicMessage: `a copy takes whole blocks of ${BLOCK_BYTES} bytes only`,
  });
}
