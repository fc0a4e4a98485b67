/** Cancels an operation by its target's own action, under the same permission and rules. */
import { cancelRebuild } from '@holdfast/control/use-cases/cancel-rebuild.js';
import { cancelDrain } from '@holdfast/control/use-cases/drain-node.js';
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { cancelExpand } from '@holdfast/control/use-cases/request-expand.js';
import { cancelVerify } from '@holdfast/control/use-cases/request-verify.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId } from '@holdfast/core/model/ids.js';
import { cancelledBy, type Operation } from '@holdfast/core/policy/operation.js';
import { assertAllowed } from '../../access/authenticator.js';
import type { Tenant } from '../../access/tenant.js';

/** @throws StorageFault `operation.not_cancellable`, `auth.forbidden` */
export async function cancelOperation(caller: Tenant, operation: Operation): Promise<void> {
  const permission = cancelledBy(operation);
  if (permission === undefined) throw notCancellable(operation);
  const { ports } = assertAllowed(caller, permission);
  const { kind, target, clusterId, volumeId } = operation;
  switch (kind) {
    case 'rebuild':
      if (volumeId === undefined) throw notCancellable(operation);
      return cancelRebuild(ports, { volumeId, rebuildId: asId(target.id) });
    case 'verify':
      return cancelVerify(ports, { volumeId: asId(target.id) });
    case 'expand':
      return cancelExpand(ports, { volumeId: asId(target.id) });
    case 'drain':
      return cancelDrain(ports, { clusterId, nodeId: asId(target.id) });
    case 'evict': {
      const patch = { evictionRequested: false };
      return target.kind === 'disk'
        ? patchDisk(ports, { clusterId, diskId: asId(target.id), patch })
        : patchNode(ports, { clusterId, nodeId: asId(target.id), patch });
    }
    default:
      throw notCancellable(operation);
  }
}

function notCancellable({ kind, state }: Operation): StorageFault {
  const why =
    state === 'queued' || state === 'running'
      ? `a ${kind} that was asked for can not be cancelled`
      : `the ${kind} has ended: it is ${state}`;
  return new StorageFault('operation.not_cancellable', { publicMessage: why });
}
