/** Snapshots and purges that users ask for: without layers there is nothing to merge. */
import crypto from 'node:crypto';
import type { Serving } from '../sim-control.js';
import { type FaultStage, messageOf, untilDeath } from './fault-stage.js';

export type LayerWork = ReturnType<typeof layerWork>;

export function layerWork(stage: FaultStage) {
  const taken: string[] = [];
  const layers = (serving: Serving, work: (engine: Serving['engine']) => Promise<void>): Promise<void> =>
    untilDeath(serving, () => work(serving.engine)).catch((error: unknown) => {
      stage.world.note(`  refused: ${messageOf(error)}`);
    });

  const snapshot = () => {
    const serving = stage.control.serving;
    if (serving === undefined) return;
    const id = crypto.randomUUID();
    const snapshot = { id, name: id, origin: 'user' as const, createdAt: new Date(0).toISOString() };
    void layers(serving, async ({ snapshots }) => {
      await snapshots.take(snapshot);
      taken.push(id);
    });
  };

  const purge = () => {
    const serving = stage.control.serving;
    if (serving === undefined) return;
    const id = taken.shift();
    void layers(serving, async ({ snapshots }) => {
      if (id !== undefined) await snapshots.remove(id);
      await snapshots.purge();
    });
  };

  return { snapshot, purge };
}
