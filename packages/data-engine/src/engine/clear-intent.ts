/**
 * Clearing of write-intent marks (`clear-intent`) in regions in which all copies are proven equal: cold ones, and all of them at
 * a clean stop (docs/adr/0135-clearing-write-intent.md). Until then the marks say where the copies may differ after a crash.
 *
 * Each copy is first asked which regions it has marked, and for a marker of that moment; it then clears only what was
 * not changed since. So a late or duplicated message clears no mark that is still needed.
 */
import { isFault } from '@holdfast/core/model/faults.js';
import type { Answer } from '../protocol/commands.js';
import type { Copies } from './copies.js';
import type { ReplicaLink } from './replica-link.js';
import type { VolumeDevice } from './volume-device.js';

/** After this long without any change, the marks of all regions are cleared. */
const IDLE_MS = 3_000;
/** Age after which a region is cold although others are being changed; also the interval of looking for cold ones. */
const COLD_MS = 5_000;
/**
 * Maximum number of marked regions: 64 GiB, which two copies resync within minutes after a crash. Writes all over 20
 * GiB stay far below it: each mark that is cleared too early costs the next write there a sync.
 */
const MARKED_MAX = 4096;
/** Number of least recently changed regions that are cleared at once beyond the maximum. */
const MARKED_BATCH = 512;

/** Maximum runs of regions in one message, far below an agent's limit. */
const RUNS_MAX = 4096;

type Marked = { link: ReplicaLink; intent: Answer<'intent'> };

export class IntentClearing {
  private running = false;
  private triedMs: number | undefined;
  /** Time of the last change that the marks were cleared for. */
  private clearedMs = Number.NEGATIVE_INFINITY;
  /**
   * Copies that have been sent a clearing since they became current; others may hold marks that this engine's changes did not make.
   */
  private readonly told = new WeakSet<ReplicaLink>();

  constructor(
    private readonly copies: Copies,
    private readonly device: VolumeDevice,
    private readonly epoch: number,
    /** True while all completed changes are equal on all current copies. */
    private readonly isProven: () => boolean,
  ) {}

  tick(nowMs: number): void {
    if (this.running || !this.isProven()) return;
    const { isQuiet, lastChangeMs, regions } = this.device;
    if (isQuiet && nowMs - lastChangeMs >= IDLE_MS) {
      if (lastChangeMs > this.clearedMs) void this.clear(lastChangeMs);
      return;
    }
    this.triedMs ??= nowMs;
    if (nowMs - this.triedMs < COLD_MS) return;
    this.triedMs = nowMs;
    if (regions.size > MARKED_MAX) void this.clear(regions.oldest(regions.size - MARKED_MAX + MARKED_BATCH));
    else if (regions.hasCold(nowMs - COLD_MS) || this.isNewToSome) void this.clear(nowMs - COLD_MS);
  }

  /** Clears the marks of all current copies. The caller has flushed everything, and nothing changes meanwhile. */
  async clearAll(): Promise<void> {
    const { lastChangeMs } = this.device;
    await this.tell(await this.ask(), (region) => this.device.regions.isCold(region, lastChangeMs));
  }

  /** Clears the marks of regions last changed at that time or before. */
  private async clear(sinceMs: number): Promise<void> {
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
      if (sinceMs === this.device.lastChangeMs) this.clearedMs = sinceMs;
    } catch {
      // On an error the copies stay marked; the next tick retries.
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

  /** Decides at the moment of sending, not at that of the query: a drop or a change since then keeps the marks. */
  private async tell(
    marked: readonly Marked[],
    mayForget: (region: number, regionBytes: number) => boolean,
  ): Promise<boolean> {
    if (!this.isProven()) return false;
    const current = marked.filter(({ link }) => link.mode === 'RW');
    await Promise.all(
      current.map(async ({ link, intent: { regionBytes, regions: all, marker } }) => {
        const regions = runsOf(all, (region) => mayForget(region, regionBytes));
        // The remaining runs are sent the next time.
        const ask = { epoch: this.epoch, marker, regions: regions.slice(0, RUNS_MAX) };
        this.told.delete(link);
        await link.control.command('clear-intent', ask).then(
          () => void (regions.length <= RUNS_MAX && this.told.add(link)),
          (error: unknown) => {
            // A copy that can't be reached keeps its marks; its data connection decides whether it stays in use.
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
