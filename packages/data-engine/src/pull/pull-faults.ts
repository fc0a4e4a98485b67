import { StorageFault } from '@holdfast/core/model/faults.js';
import { isOutOfSpace, systemCode } from '../base/system-error.js';
import type { PulledLayer } from '../protocol/pull.js';

export function differs(plan: PulledLayer, window: number, what: string): StorageFault {
  return new StorageFault('rebuild.contents_differ', {
    publicMessage: `layer ${plan.name} differs from the source's: ${what}`,
    context: { layerId: plan.id, window },
  });
}

/** Fault of the target's own disk, which no other source would cure. */
export function diskFault(error: unknown): StorageFault {
  const code = systemCode(error);
  const full = isOutOfSpace(error);
  return new StorageFault(full ? 'disk.no_space' : 'rebuild.failed', {
    publicMessage: full
      ? 'the disk of the target is full'
      : `the disk of the target failed: ${code ?? error}`,
    cause: error,
  });
}

export function pullFault(message: string): StorageFault {
  return new StorageFault('rebuild.failed', { publicMessage: message });
}
