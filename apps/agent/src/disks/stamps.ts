/**
 * Stamps of this node's disks. A stamp is on the disk before the control plane hears of it, and no copy on the disk is opened before
 * the control plane has stored one that says so. From then on it is advanced now and then, so that a copy of the disk
 * falls behind (docs/adr/0322-disk-stamps.md).
 *
 * A disk whose stamp the control plane has not confirmed is never advanced: a second disk of one identity stays at the stamp that it was
 * copied with. After a crash at any point the disk is at most one stamp ahead of the control plane, which knows it by its trail.
 */
import type { HeartbeatReply, StampReport } from '@holdfast/core/model/agent-protocol.js';
import { stampReport } from '@holdfast/core/model/disk-stamp.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { Disk } from './disk.js';
import { type StoredStamp, storedStampAfter } from './stored-stamp.js';
import { DiskOwesAnswer } from './watched-disk.js';

/** Pause between two stamps of a disk in use: a small synced write on the disk, and one update of its row. */
const ADVANCE_MS = 5_000;
/** Longest wait for the control plane when the first copy of a disk is opened: a heartbeat may take as long. */
const CONFIRM_MS_MAX = 5_000;

type State = {
  /** Stamp that the control plane has stored; null: it has none, and neither has the disk. */
  confirmed: string | null | undefined;
  /** A copy on the disk has been opened in this life of the agent. */
  isUsed: boolean;
  /** Recorded in a stamp on the disk. */
  isMarked: boolean;
  advancedAtMs: number;
  /** The last change of it. Changes of one disk run one after the other. */
  changing: Promise<unknown>;
  reported: StampReport | undefined;
};

export type StampsOptions = Readonly<{
  /** Asks for a heartbeat at once. */
  soon: () => void;
  advanceMs?: number;
  confirmMsMax?: number;
}>;

export class Stamps {
  private readonly states = new Map<Disk, State>();
  private readonly waiting = new Set<() => void>();
  /** Whether the control plane knows stamps; `undefined`: it has not answered yet. */
  private isKnown: boolean | undefined;
  private isSealed = false;

  constructor(private readonly options: StampsOptions) {}

  /** The stamp of a ready disk, for a heartbeat. While a slow disk owes an answer, the last reported stamp is repeated. */
  report(disk: Disk): Promise<StampReport> {
    return this.change(disk, async (state) => {
      try {
        state.reported = await this.readReport(disk, state);
        return state.reported;
      } catch (error) {
        const isSlow = error instanceof DiskOwesAnswer && !error.isHung;
        if (!isSlow || state.reported === undefined) throw error;
        return state.reported;
      }
    });
  }

  private async readReport(disk: Disk, state: State): Promise<StampReport> {
    const stored = await disk.readStamp();
    const isConfirmed = state.confirmed === (stored?.id ?? null);
    const isDue = performance.now() - state.advancedAtMs >= (this.options.advanceMs ?? ADVANCE_MS);
    const mayAdvance = state.isUsed && isConfirmed && this.isKnown === true && !this.isSealed;
    const now = mayAdvance && (isDue || !state.isMarked) ? await advance(disk, state, stored) : stored;
    return stampReport(now, await disk.fileId());
  }

  /** Takes over what the control plane has stored of a report. */
  confirm(stamps: HeartbeatReply['stamps']): void {
    this.isKnown = stamps !== undefined;
    for (const { diskId, stampId } of stamps ?? []) {
      for (const [disk, state] of this.states) if (disk.diskId === diskId) state.confirmed = stampId;
    }
    for (const wake of this.waiting) wake();
  }

  /**
   * Lets the disk's copies be opened, once the control plane has stored that they are.
   *
   * @throws StorageFault `disk.not_ready` where it has not within the limit
   */
  async engage(disk: Disk): Promise<void> {
    const before = this.stateOf(disk);
    if (this.isKnown === false) before.isUsed = true;
    if (this.isKnown === false || (before.isMarked && before.isUsed)) return;
    const untilMs = performance.now() + (this.options.confirmMsMax ?? CONFIRM_MS_MAX);
    await this.confirmed(disk, untilMs);
    await this.change(disk, async (state) => {
      const isNew = !state.isMarked && this.isKnown === true && !this.isSealed;
      if (isNew) await advance(disk, state, await disk.readStamp());
    });
    if (this.isKnown === true) await this.confirmed(disk, untilMs);
    before.isUsed = true;
  }

  /** Says on the disks that nothing is written to them any more. For the end of the agent, after its hosts. */
  async seal(): Promise<void> {
    this.isSealed = true;
    for (const disk of this.states.keys()) {
      const sealing = this.change(disk, async (state) => {
        const stored = await disk.readStamp();
        if (state.isMarked && stored !== undefined) await disk.writeStamp(storedStampAfter(stored, false));
      });
      // A disk that can't be written to keeps the stamp that says it is in use.
      await sealing.catch(() => undefined);
    }
  }

  /** Waits until the stamp that is on the disk is confirmed. A control plane that never answered has no stamp of a disk without one. */
  private async confirmed(disk: Disk, untilMs: number): Promise<void> {
    for (;;) {
      const stored = await this.change(disk, () => disk.readStamp());
      const { confirmed } = this.stateOf(disk);
      if (confirmed === (stored?.id ?? null) || this.isKnown === false) return;
      if (this.isKnown === undefined && stored === undefined) return;
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) throw unconfirmed(disk);
      this.options.soon();
      await this.heard(leftMs);
    }
  }

  /** Waits for the next answer of the control plane. */
  private heard(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, limitMs);
      this.waiting.add(end);
    });
  }

  private stateOf(disk: Disk): State {
    const known = this.states.get(disk);
    if (known !== undefined) return known;
    const state: State = {
      confirmed: undefined,
      isUsed: false,
      isMarked: false,
      advancedAtMs: Number.NEGATIVE_INFINITY,
      changing: Promise.resolve(),
      reported: undefined,
    };
    this.states.set(disk, state);
    return state;
  }

  private async change<T>(disk: Disk, work: (state: State) => Promise<T>): Promise<T> {
    const state = this.stateOf(disk);
    const mine = state.changing.then(
      () => work(state),
      () => work(state),
    );
    state.changing = mine;
    return mine;
  }
}

async function advance(disk: Disk, state: State, stored: StoredStamp | undefined): Promise<StoredStamp> {
  const next = storedStampAfter(stored, true);
  await disk.writeStamp(next);
  state.isMarked = true;
  state.advancedAtMs = performance.now();
  return next;
}

function unconfirmed({ path }: Disk): StorageFault {
  return new StorageFault('disk.not_ready', {
    publicMessage: `the control plane has not confirmed that ${path} holds the newest state of its disk: it does not answer, or knows a newer one`,
    cures: ['look at the disk with holdfast disk list', 'wait until the control plane answers again'],
  });
}
