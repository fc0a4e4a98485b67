/** Power cuts, at random and at the worst moments: after a flush, while blocks are freed, when marks are cleared. */
import type { FaultStage } from './fault-stage.js';
import type { LayerWork } from './layer-work.js';

export function powerFaults(stage: FaultStage, work: LayerWork) {
  let isArmed = false;
  let isArmedForDebt = false;
  let isArmedForPunch = false;
  let isArmedForClearing = false;

  const powerCut = () => {
    const node = stage.someNode;
    stage.world.note(`  on ${node.name}`);
    stage.cut(node);
  };

  /** Power cut of all machines at once; mostly at the worst moment, when a flush has just been answered. */
  const blackout = () => {
    if (stage.world.random.chance(4)) stage.cutAll();
    else isArmed = true;
  };

  /** Power cut at the next answered flush that finds a disk with older writes not yet durable. */
  const blackoutWhenOwed = () => {
    isArmedForDebt = true;
  };

  /** A snapshot, writes over it, its removal, and a power cut while its blocks are freed. */
  const blackoutInPurge = () => {
    work.snapshot();
    stage.world.after(stage.world.duration(20, 400), () => {
      work.purge();
      stage.later(stage.world.duration(1, 60), () => stage.cutAll());
    });
  };

  /** The same, with the power cut right after a block was freed. */
  const blackoutAtPunch = () => {
    work.snapshot();
    stage.world.after(stage.world.duration(20, 400), () => {
      work.purge();
      isArmedForPunch = true;
    });
  };

  /** Power cut when a copy clears its marks while a disk has older writes not yet durable. */
  const cutAtClearing = () => {
    isArmedForClearing = true;
  };

  /** Called for an answered flush that began at this time. */
  const flushed = (begunAtMs: number) => {
    if (stage.hasEnded) return;
    if (isArmed) {
      isArmed = false;
      stage.strike('blackout after a flush');
      return;
    }
    const isOwed = () => stage.nodes.some(({ disk, isDown }) => !isDown && disk.owesSync(begunAtMs));
    if (!isArmedForDebt || !isOwed()) return;
    isArmedForDebt = false;
    stage.strike('blackout after a flush that some disk has not made good', false);
  };

  const punched = () => {
    if (!isArmedForPunch || stage.hasEnded) return;
    isArmedForPunch = false;
    stage.later(stage.world.duration(0, 2), () => stage.strike('blackout after space was given back'));
  };

  const cleared = () => {
    const owing = stage.nodes.filter(({ disk, isDown }) => !isDown && disk.owesSync(stage.world.nowMs));
    if (!isArmedForClearing || stage.hasEnded || owing.length === 0) return;
    isArmedForClearing = false;
    const one = stage.world.random.pick(owing);
    const isAll = stage.world.random.chance(2);
    stage.later(stage.world.duration(0, 3), () => {
      stage.world.note(`power is lost right after marks were cleared${isAll ? '' : ` on ${one.name}`}`);
      stage.lastMs = stage.world.nowMs;
      if (isAll) stage.cutAll();
      else stage.cut(one);
    });
  };

  const faults = { powerCut, blackout, blackoutWhenOwed, blackoutInPurge, blackoutAtPunch, cutAtClearing };
  return { faults, flushed, punched, cleared };
}
