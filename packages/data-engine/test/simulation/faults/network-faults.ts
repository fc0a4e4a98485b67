/** Faults of the network: links are cut, and control calls are lost, late or delivered twice. */
import { COMMANDS } from './commands.js';
import type { FaultStage } from './fault-stage.js';
import type { LayerWork } from './layer-work.js';

export function networkFaults(stage: FaultStage, work: LayerWork) {
  const cutEngineFromOne = (forMs: number) => {
    const { serving } = stage.control;
    if (serving === undefined) return;
    const from = serving.node.name;
    const to = stage.world.random.pick(stage.names.filter((name) => name !== from));
    stage.world.note(`  ${from} > ${to}`);
    stage.net.cut(from, to);
    stage.later(forMs, () => stage.net.heal(from, to));
  };

  /** Isolates the engine: only its own node reaches it. In half of the runs users send no requests meanwhile. */
  const isolateEngine = () => {
    const { serving } = stage.control;
    if (serving === undefined) return;
    const cutMs = stage.world.random.chance(2) ? 60_000 : stage.world.duration(8_000, 60_000);
    if (stage.isBusyWith('isolateEngine', cutMs)) return;
    const { name } = serving.node;
    if (stage.world.random.chance(2)) {
      stage.quietUntilMs = stage.world.nowMs + cutMs / 2;
      stage.isolate(name, cutMs);
      return;
    }
    // Right after it has lost another copy, before the control plane knows of that.
    const other = stage.world.random.pick(stage.nodes.filter((node) => node !== serving.node));
    if (other.isDown) return;
    stage.lose(other);
    other.restartHost();
    stage.later(stage.world.duration(0.1, 4), () => stage.isolate(name, cutMs));
  };

  const mischief = () => {
    stage.net.mischiefOneIn = 2 + stage.world.random.below(8);
    stage.later(stage.world.duration(1_000, 30_000), () => {
      stage.net.mischiefOneIn = 0;
    });
  };

  /** Control calls are late, duplicated and lost while much that they are for goes on. */
  const commandStorm = () => {
    mischief();
    stage.killHost();
    for (const change of [work.snapshot, work.purge, work.snapshot, work.purge])
      stage.later(stage.world.duration(10, 15_000), change);
    stage.later(stage.world.duration(10, 15_000), () => stage.killEngine());
  };

  /** Every command of a rebuild is delivered twice, the second time perhaps long after its end. */
  const doubleInRebuild = () => {
    stage.killHost();
    stage.net.isDoubling = true;
    stage.later(stage.world.duration(2_000, 12_000), () => {
      stage.net.isDoubling = false;
    });
  };

  /** A command is delayed while the engine loses another copy, arrives late, and the engine dies. */
  const holdCommand = () => {
    if (stage.isBusyWith('holdCommand', 30_000)) return;
    const command = stage.world.random.chance(3) ? stage.world.random.pick(COMMANDS) : 'clear-intent';
    stage.world.note(`  ${command}`);
    stage.net.hold(command, () => {
      stage.world.note(`${command} is held up`);
      const cutMs = stage.world.duration(0, 5_000);
      stage.later(cutMs, () => cutEngineFromOne(40_000));
      const releaseMs = cutMs + stage.world.duration(5, 3_000);
      stage.world.after(releaseMs, () => stage.net.release());
      if (stage.world.random.chance(4)) return;
      stage.later(releaseMs + stage.world.duration(1, 500), () => {
        stage.killEngine();
        stage.restUsers(60_000);
      });
    });
    stage.world.after(30_000, () => stage.net.release());
  };

  const cutLink = () => {
    const names = [...stage.names, 'control'];
    const from = stage.world.random.pick(names);
    const to = stage.world.random.pick(names.filter((name) => name !== from));
    stage.world.note(`  ${from} > ${to}`);
    stage.net.cut(from, to);
    stage.later(stage.world.duration(500, 40_000), () => stage.net.heal(from, to));
  };

  const cutNode = () => {
    const { name } = stage.someNode;
    stage.world.note(`  ${name}`);
    stage.isolate(name, stage.world.duration(500, 40_000));
  };

  return { isolateEngine, mischief, commandStorm, doubleInRebuild, holdCommand, cutLink, cutNode };
}
