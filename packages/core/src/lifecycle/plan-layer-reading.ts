import type { EngineReport } from '../model/agent-protocol.js';
import type { VolumeView } from '../model/views.js';
import { isServing } from '../model/volume-facts.js';
import { layerTaskOf } from '../model/volume-task.js';
import type { Step } from './step.js';

/**
 * Reads a volume's layers when they may have changed on their own: after an attach, after a copy was dropped or has become full, and
 * while a command continues after its answer.
 *
 * Last of all concerns, because it only reads: if the engine does not answer, nothing else waits for it.
 */
export function planLayerReading(view: VolumeView): Step | undefined {
  const { volume, snapshots, engine } = view;
  if (!isServing(view) || engine === undefined) return undefined;
  const isGoingOn =
    layerTaskOf(volume)?.startedEpoch === volume.epoch ||
    snapshots.some(({ hashRequest }) => hashRequest?.startedEpoch === volume.epoch);
  const isOutOfDate = volume.chain?.key !== chainKey(engine.report) || volume.chain.busy !== '';
  return isGoingOn || isOutOfDate ? { kind: 'read-layers' } : undefined;
}

/** Engines freeze layers on their own when they change the record: at a drop, and for a rebuild. */
export function chainKey({ record }: Pick<EngineReport, 'record'>): string {
  return `${record.epoch}.${record.dataGeneration}`;
}
