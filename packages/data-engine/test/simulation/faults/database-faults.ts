/** Faults of the control plane: its database loses commits, and a worker acts late. */
import type { SimControl } from '../sim-control.js';
import { type FaultStage, messageOf } from './fault-stage.js';

export function databaseFaults(stage: FaultStage) {
  let kept: { row: ReturnType<SimControl['backup']>; epoch: number } | undefined;

  /** A copy is lost, and a worker that has decided to replace it acts when the copy may be current again. */
  const replaceLate = () => {
    if (stage.isBusyWith('replaceLate', 20_000)) return;
    const node = stage.someNode;
    if (node.isDown) return;
    stage.lose(node);
    node.restartHost();
    stage.later(stage.world.duration(100, 3_000), () => {
      stage.control.replaceLate().catch((error: unknown) => {
        stage.world.note(`  not replaced: ${messageOf(error)}`);
      });
    });
  };

  const loseCommits = () => {
    const { control } = stage;
    if (kept === undefined || stage.world.random.chance(2)) {
      kept = { row: control.backup(), epoch: control.epoch };
      return;
    }
    stage.world.note(`  back to epoch ${kept.epoch} from ${control.epoch}`);
    control.restore(kept.row);
    kept = undefined;
  };

  /** The database loses the grant of the serving engine. */
  const loseTakeover = () => {
    const { control } = stage;
    const { starts } = control;
    const backup = control.backup();
    stage.killEngine();
    const watch = (leftMs: number) => {
      if (stage.hasEnded || leftMs <= 0) return;
      if (control.starts === starts) {
        stage.world.after(100, () => watch(leftMs - 100));
        return;
      }
      stage.later(stage.world.duration(100, 10_000), () => {
        // Failed attempts have used up epochs too.
        const epoch = control.epoch - 1;
        stage.world.note(`back to epoch ${epoch} from ${control.epoch}`);
        stage.lastMs = stage.world.nowMs;
        control.restore({ ...backup, epoch });
      });
    };
    watch(60_000);
  };

  return { replaceLate, loseCommits, loseTakeover };
}
