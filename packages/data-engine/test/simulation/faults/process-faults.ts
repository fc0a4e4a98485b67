/** Faults of processes: hosts and engines die or are stopped, at a command too, and takeovers take long. */
import { COMMANDS } from './commands.js';
import type { FaultStage } from './fault-stage.js';

export function processFaults(stage: FaultStage) {
  const killHost = () => stage.killHost();
  const killEngine = () => stage.killEngine();

  /** After a copy has carried out a command, the sender, the copy, or everything dies before the next step. */
  const dieAtCommand = () => {
    const command = stage.world.random.pick(COMMANDS);
    const dies = stage.world.random.pick(['engine', 'host', 'all'] as const);
    stage.world.note(`  ${command}: ${dies}`);
    stage.awaited = {
      command,
      withinMs: stage.world.random.pick([5, 1_000]),
      happens: () => {
        if (dies === 'engine') stage.killEngine();
        else if (dies === 'host') stage.killHost();
        else stage.cutAll();
      },
    };
  };

  /** The next engine opens its copies slowly, so that much happens between its steps. */
  const slowTakeover = () => {
    if (stage.isBusyWith('slowTakeover', 60_000)) return;
    const { random } = stage.world;
    // During resync each call takes almost as long as a copy may be silent; while opening, less.
    const isOpen = random.chance(2);
    const slowestMs = isOpen ? stage.world.duration(2_500, 6_000) : stage.world.duration(100, 3_000);
    const slowDown = () => {
      for (const { disk } of stage.nodes) disk.slowestMs = slowestMs;
      stage.later(stage.world.duration(10_000, 40_000), () => stage.atUsualSpeed());
    };
    if (isOpen) stage.onOpened = slowDown;
    else slowDown();
    stage.later(stage.world.duration(20, 1_000), () => {
      if (random.chance(3)) stage.killEngine();
      else stage.cutAll(true);
      stage.restUsers(80_000);
      if (random.chance(2)) {
        // The copies clear their marks one after the other.
        stage.awaited = { command: 'clear-intent', withinMs: slowestMs, happens: killEngine };
        return;
      }
      // Before the end of resync, if the copies are slow enough.
      stage.later(stage.world.duration(15_000, 30_000), killEngine);
    });
  };

  const stopHost = () => stage.someNode.host.stop(stage.world.duration(100, 25_000));

  const stopEngine = () => stage.control.serving?.life.stop(stage.world.duration(100, 40_000));

  return { killHost, killEngine, dieAtCommand, slowTakeover, stopHost, stopEngine };
}
