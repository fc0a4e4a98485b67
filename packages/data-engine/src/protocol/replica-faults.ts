import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';

export function corrupt(message: string, cause?: unknown): StorageFault {
  return new StorageFault('replica.corrupt', { publicMessage: `the copy is damaged: ${message}`, cause });
}

export function staleEpoch(epoch: number, newest: number): StorageFault {
  return new StorageFault('engine.stale_epoch', {
    publicMessage: `epoch ${epoch} has been replaced by ${newest}`,
    context: { epoch, newest },
  });
}

/** Fault of a command whose precondition no longer holds, because it is late or duplicated. Nothing was done. */
export function stateChanged(): StorageFault {
  return new StorageFault('replica.state_changed', {
    publicMessage: 'the copy is not in the state that the command is about any more',
  });
}

export function tooManyLayers(max: number): StorageFault {
  return new StorageFault('replica.too_many_layers', {
    publicMessage: `a copy holds at most ${max} layers`,
    cures: ['delete snapshots that are no longer needed, and purge'],
  });
}

export function snapshotNotFound(): StorageFault {
  return new StorageFault('snapshot.not_found', { publicMessage: 'the copy has no such snapshot' });
}

export function snapshotInUse(): StorageFault {
  return new StorageFault('snapshot.in_use', {
    publicMessage: 'another snapshot stands on it',
    cures: ['purge: it is taken out as soon as one layer at most stands on it'],
  });
}

export function unaligned(): StorageFault {
  return new StorageFault('request.invalid', {
    publicMessage: `a copy takes whole blocks of ${BLOCK_BYTES} bytes only`,
  });
}

export function replicaNotFound(cause?: unknown): StorageFault {
  return new StorageFault('replica.not_found', { publicMessage: 'there is no such copy here', cause });
}
