import type { Step } from '@holdfast/core/lifecycle/step.js';
import { assertNever } from '@holdfast/core/model/faults.js';
import type { VolumeView } from '../ports/store.js';
import { grantAttachment, setReplicaTimeout, startEngine, stopEngine } from './attachment-steps.js';
import { fillVolume } from './fill-step.js';
import { changeLayers, readLayers } from './layer-steps.js';
import { cancelEngineRebuild, queueRebuild, startRebuild, tuneRebuild } from './rebuild-steps.js';
import { commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';
import { addReplica, dropReplica, provisionReplica, removeReplica } from './replica-steps.js';
import { hashSnapshot, removeSnapshot, requestSnapshotStep, takeSnapshot } from './snapshot-steps.js';
import { verifyCopies } from './verify-step.js';

/** Does one step and records it. The plan has made every choice; here only ids and secrets are added. */
export async function executeStep(
  ports: ReconcilerPorts,
  view: VolumeView,
  step: Exclude<Step, { kind: 'idle' }>,
): Promise<StepOutcome> {
  switch (step.kind) {
    case 'commit':
      await commitVolume(ports, view, step.changes);
      return 'continue';
    case 'provision':
      return provisionReplica(ports, view, step);
    case 'add-replica':
      return addReplica(ports, view, step);
    case 'grant-attachment':
      return grantAttachment(ports, view, step);
    case 'start-engine':
      return startEngine(ports, view, step);
    case 'set-replica-timeout':
      return setReplicaTimeout(ports, view, step);
    case 'stop-engine':
      return stopEngine(ports, view, step);
    case 'queue-rebuild':
      return queueRebuild(ports, view, step);
    case 'start-rebuild':
      return startRebuild(ports, view, step);
    case 'tune-rebuild':
      return tuneRebuild(ports, view, step);
    case 'cancel-rebuild':
      return cancelEngineRebuild(ports, view, step);
    case 'drop-replica':
      return dropReplica(ports, view, step);
    case 'remove-replica':
      return removeReplica(ports, view, step);
    case 'fill-volume':
      return fillVolume(ports, view);
    case 'request-snapshot':
      return requestSnapshotStep(ports, view, step);
    case 'take-snapshot':
      return takeSnapshot(ports, view, step);
    case 'remove-snapshot':
      return removeSnapshot(ports, view, step);
    case 'hash-snapshot':
      return hashSnapshot(ports, view, step);
    case 'request-admission':
      await ports.queue.wake({ kind: 'cluster', clusterId: view.volume.clusterId });
      return 'pause';
    case 'change-layers':
      return changeLayers(ports, view);
    case 'read-layers':
      return readLayers(ports, view);
    case 'verify':
      return verifyCopies(ports, view, step);
    default:
      return assertNever(step);
  }
}
