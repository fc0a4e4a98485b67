/**
 * Tells the copies where they are equal (docs/adr/0135): in regions without a change for some time, and in all at a clean
 * stop. Until then their write-intent maps say where they may differ after a crash.
 *
 * Each copy is asked first which regions it has marked, and at which moment of its life; what it is told to forget later
 * is what was not changed since. So a message that is late, or comes twice, takes no mark that is still needed.
 */
import { isFault } from '@holdfast/core/model/faults.js';
import type { Answer } from '../replica/commands.js';
import type { Copies } from './copies.js';
import type { ReplicaLink } from './replica-link.js';
import type { VolumeDevice } from './volume-device.js';

/** After so long without any change the copies are told of all regions. */
const IDLE_MS = 3_000;
/** Regions without a change for so long are told while others are changed; looked for no more often than this. */
const COLD_MS = 5_000;
/**
 * More regions than this are not kept marked: 64 GiB, which two copies compare within minutes after a crash. Writes all over
 * 20 GiB stay far below it: each mark that is taken too early costs the next write there a sync.
 */
const MARKED_MAX = 4096;
/** So many of the least recently changed are told at once when there are more. */
const MARKED_BATCH = 512;

/** Runs of regions in one message, which stays far below what an agent takes. */
const RUNS_MAX = 4096;

type Marked = { link: ReplicaLink; intent: Answer<'intent'> };

export class Settling {
  private running = false;
  private triedMs: number | undefined;
  /** The last change that the copies have been told to be equal in. */
  private settledMs = Number.NEGATIVE_INFINITY;
  /** Copies that have been told since they became current; others may have marks that no change of this engine made. */
  private readonly told = new WeakSet<ReplicaLink>();

  constructor(
    private readonly copies: Copies,
    private readonly device: VolumeDevice,
    private readonly epoch: number,
    /** True while all that was changed and is not being changed now is the same on all current copies. */
    private readonly isProven: () => boolean,
  ) {}

  tick(nowMs: number): void {
    if (this.running || !this.isProven()) return;
    const { isQuiet, lastChangeMs, regions } = this.device;
    if (isQuiet && nowMs - lastChangeMs >= IDLE_MS) {
      if (lastChangeMs > this.settledMs) void this.settle(lastChangeMs);
      return;
    }
    this.triedMs ??= nowMs;
    if (nowMs - this.triedMs < COLD_MS) return;
    this.triedMs = nowMs;
    if (regions.size > MARKED_MAX) void this.settle(regions.oldest(regions.size - MARKED_MAX + MARKED_BATCH));
    else if (regions.hasCold(nowMs - COLD_MS) || this.isNewToSome) void this.settle(nowMs - COLD_MS);
  }

  /** Clears the maps of all current copies. Everything was flushed, and nothing is changed meanwhile. */
  async settleQuietly(): Promise<void> {
    const { lastChangeMs } = this.device;
    await this.tell(await this.ask(), (region) => this.device.regions.isCold(region, lastChangeMs));
  }

  /** Regions that were last changed at that moment or before. */
  private async settle(sinceMs: number): Promise<void> {
    this.running = true;
    try {
      const marked = await this.ask();
      await this.device.flush();
      const isTold = await this.tell(marked, (region, regionBytes) => {
        const start = region * regionBytes;
        return (
          this.device.regions.isCold(region, sinceMs) && !this.device.isChanging(start, start + regionBytes)
        );
      });
      if (!isTold) return;
      this.device.regions.forgetCold(sinceMs);
      if (sinceMs === this.device.lastChangeMs) this.settledMs = sinceMs;
    } catch {
      // The copies stay marked; the next moment tries again.
    } finally {
      this.running = false;
    }
  }

  private get isNewToSome(): boolean {
    return this.copies.withMode('RW').some((link) => !this.told.has(link));
  }

  private async ask(): Promise<Marked[]> {
    const { epoch } = this;
    const asked = await Promise.allSettled(
      this.copies
        .withMode('RW')
        .map(async (link) => ({ link, intent: await link.control.command('intent', { epoch }) })),
    );
    return asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  }

  /**
   * Whether it may be told is decided at the moment of sending, not when the copies were asked: a drop in between, or a
   * change under way, keeps the marks.
   */
  private async tell(
    marked: readonly Marked[],
    mayForget: (region: number, regionBytes: number) => boolean,
  ): Promise<boolean> {
    if (!this.isProven()) return false;
    const current = marked.filter(({ link }) => link.mode === 'RW');
    await Promise.all(
      current.map(async ({ link, intent: { regionBytes, regions: all, marker } }) => {
        const regions = runsOf(all, (region) => mayForget(region, regionBytes));
        // The rest is told the next time.
        const ask = { epoch: this.epoch, marker, regions: regions.slice(0, RUNS_MAX) };
        this.told.delete(link);
        await link.control.command('settle', ask).then(
          () => void (regions.length <= RUNS_MAX && this.told.add(link)),
          (error: unknown) => {
            // A copy that can't be told keeps its marks; its data connection decides whether it stays in use.
            if (isFault(error, 'engine.stale_epoch')) this.copies.stop(error);
          },
        );
      }),
    );
    return !this.isNewToSome;
  }
}

function runsOf(
  runs: readonly (readonly [number, number])[],
  wanted: (region: number) => boolean,
): [number, number][] {
  const found: [number, number][] = [];
  for (const [first, count] of runs) {
    for (let region = first; region < first + count; region += 1) {
      if (!wanted(region)) continue;
      const last = found.at(-1);
      if (last !== undefined && last[0] + last[1] === region) last[1] += 1;
      else found.push([region, 1]);
    }
  }
  return found;
}
