/** Faults of disks: calls fail or are slow, a disk is full, or goes back to what it held earlier. */
import { INTENT_FILE } from '../../../src/replica/intent-map.js';
import type { FaultStage } from './fault-stage.js';

const HOLE_BYTES = 8192;

export function diskFaults(stage: FaultStage) {
  /** Restoring two machines could leave no copy that knows the newer state. */
  let hasPutBack = false;

  /** The disks of complete copies are full, and that of a rebuild target is not. */
  const fullInRebuild = () => {
    const target = stage.someNode;
    if (target.isDown) return;
    stage.world.note(`  of ${target.name}`);
    stage.lose(target);
    target.restartHost();
    const untilMs = stage.world.nowMs + 20_000;
    const others = stage.nodes.filter((node) => node !== target);
    const watch = () => {
      if (stage.hasEnded || stage.world.nowMs > untilMs) return;
      const joining = stage.control.serving?.engine.copies.withMode('WO') ?? [];
      if (joining.length === 0) {
        stage.world.after(2, watch);
        return;
      }
      for (const { disk } of others) disk.isFull = true;
      target.disk.slowestMs = 200;
      stage.later(stage.world.duration(50, 3_000), () => {
        for (const { disk } of others) disk.isFull = false;
        stage.atUsualSpeed();
      });
    };
    watch();
  };

  const syncFails = () => {
    stage.someNode.disk.faults.sync = true;
  };

  /** The kernel writes back what is in memory and fails, while no call waits for it; else the next sync does. */
  const writebackFails = () => {
    const { disk } = stage.someNode;
    if (!disk.failWriteback()) disk.faults.sync = true;
  };

  /** A disk that has lost the start of a copy's maps, which reads as zeros. Of one copy only, and while another one is current. */
  let hasHole = false;
  const mapHole = () => {
    const node = stage.someNode;
    if (hasHole || node.isDown || !stage.control.canDoWithout(node)) return;
    const maps = [...node.disk.root.namedFiles()].filter(
      ([name]) => name.endsWith('.map') && name !== INTENT_FILE,
    );
    if (maps.length === 0) return;
    hasHole = true;
    stage.world.note(`  on ${node.name}`);
    stage.lose(node);
    node.host.kill();
    for (const [, file] of maps) file.rot(0, HOLE_BYTES);
    node.restartHost();
  };

  const writeFails = () => {
    stage.someNode.disk.faults.write = true;
  };

  const readFails = () => {
    stage.someNode.disk.faults.read = true;
  };

  const fillDisk = () => {
    const nodes = stage.world.random.chance(2) ? stage.nodes : [stage.someNode];
    for (const { disk } of nodes) disk.isFull = true;
    stage.later(stage.world.duration(500, 25_000), () => {
      for (const { disk } of nodes) disk.isFull = false;
    });
  };

  const slowDisk = () => {
    const { disk } = stage.someNode;
    disk.slowestMs = stage.world.duration(20, 4_000);
    stage.later(stage.world.duration(500, 20_000), () => stage.atUsualSpeed());
  };

  /** Restores a machine from an image of itself, taken during an attachment that another one has followed since. */
  const rollBack = () => {
    const { control } = stage;
    const node = stage.someNode;
    if (node.isDown) return;
    const image = node.disk.image();
    const { starts } = control;
    stage.later(stage.world.duration(8_000, 60_000), () => {
      if (node.isDown || hasPutBack || control.starts < starts + 2) return;
      if (!control.canDoWithout(node)) return;
      hasPutBack = true;
      stage.world.note(`${node.name} is put back to what it was`);
      stage.lastMs = stage.world.nowMs;
      // Without an engine it is only noticed at the next attachment.
      if (stage.world.random.chance(2)) stage.killEngine();
      stage.lose(node);
      node.powerCut();
      node.disk.restore(image);
      node.powerOn();
    });
  };

  return {
    fullInRebuild,
    syncFails,
    writebackFails,
    mapHole,
    writeFails,
    readFails,
    fillDisk,
    slowDisk,
    rollBack,
  };
}
