/**
 * Tells the copies that they are equal (docs/adr/0021): after some time without a change, and at a clean stop. Until
 * then their write-intent maps say where they may differ after a crash.
 */
import { isFault } from '@holdfast/core/model/faults.js';
import type { Copies } from './copies.js';
import type { VolumeDevice } from './volume-device.js';

/** After so long without a change the copies are told. */
const IDLE_MS = 3_000;

export class Settling {
  private running = false;
  /** The last change that the copies have been told to be equal in. */
  private settledMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly copies: Copies,
    private readonly device: VolumeDevice,
    private readonly epoch: number,
  ) {}

  tick(nowMs: number): void {
    const { isQuiet, lastChangeMs } = this.device;
    if (this.running || !isQuiet || lastChangeMs <= this.settledMs || nowMs - lastChangeMs < IDLE_MS) return;
    void this.settle();
  }

  /** Clears the maps of all current copies. Nothing may be changed meanwhile. */
  async settleQuietly(): Promise<void> {
    const { lastChangeMs } = this.device;
    const { epoch } = this;
    const told = await Promise.all(
      this.copies.withMode('RW').map(({ control }) =>
        control.command('settle', { epoch }).then(
          () => true,
          (error: unknown) => {
            // A copy that can't be told keeps its marks; its data connection decides whether it stays in use.
            if (isFault(error, 'engine.stale_epoch')) this.copies.stop(error);
            return false;
          },
        ),
      ),
    );
    if (told.every(Boolean)) this.settledMs = lastChangeMs;
  }

  private async settle(): Promise<void> {
    this.running = true;
    try {
      // What is flushed beforehand need not be flushed while users wait.
      await this.device.flush();
      await this.device.exclusive(() => this.settleQuietly());
    } catch {
      // The copies stay marked; the next idle moment tries again.
    } finally {
      this.running = false;
    }
  }
}
