/**
 * Resync after an unclean stop: in every region that any copy's write-intent map names, all copies get the data of
 * one of them. Until it is done, reads are pinned to that copy, and a range is made equal before its read is
 * answered.
 *
 * The ranges that flushes wait for come first (docs/design/write-path.md): recent changes of the copies whose process lived
 * through the stop, which another copy may have lost with its process.
 *
 * It may be interrupted at any point: the copies keep their marks until the engine has proof that all are equal.
 */
import type { Ports } from '../nbd/ports.js';
import type { IntentMarker } from '../protocol/commands.js';
import { decodeStretches, rangesOfStretches } from '../protocol/stretches.js';
import type { Copies } from './copies.js';
import { equaliseRange, STEP_BYTES } from './equalise.js';
import { preferredSource } from './reads.js';
import type { ReplicaLink } from './replica-link.js';
import { type Range, UnequalRanges } from './unequal-ranges.js';

/** Ranges in flight while flushes wait; a disk serves several at once in nearly the time of one. */
const URGENT_IN_FLIGHT = 16;
/** Ranges in flight when no flush waits: user I/O comes first. */
const IN_FLIGHT = 2;

/** Pause before a range is retried that could not be made equal, in milliseconds. */
const RETRY_MS = 500;

export interface ResyncHost {
  readonly spec: { epoch: number };
  readonly ports: Pick<Ports, 'time'>;
  readonly copies: Copies;
  readonly device: {
    readonly sizeBytes: number;
    unequal: UnequalRanges | undefined;
    withRange<T>(start: number, end: number, work: () => Promise<T>): Promise<T>;
  };
}

export class Resync {
  readonly finished: Promise<void>;
  /** Resolves when every copy has all acknowledged writes; `undefined` if none can lack any. */
  readonly missing: Promise<void> | undefined;
  private complete: () => void = () => undefined;
  private cancelled = false;
  private begin: () => void = () => undefined;
  private readonly unequal = new UnequalRanges();
  private readonly markers = new Map<string, IntentMarker>();

  constructor(private readonly host: ResyncHost) {
    const started = new Promise<void>((resolve) => {
      this.begin = resolve;
    });
    this.finished = started.then(() => this.run());
    // Handled here so that a failure without a waiter is no unhandled rejection; waiters still see it.
    this.finished.catch(() => undefined);
    if (this.kept().length > 0 && host.copies.withMode('RW').some(({ opened }) => !opened.kept)) {
      const completed = new Promise<void>((resolve) => {
        this.complete = resolve;
      });
      this.missing = Promise.race([completed, this.finished]);
      this.missing.catch(() => undefined);
    }
  }

  start(): void {
    const { copies, device } = this.host;
    copies.reads.onlyFrom(preferredSource(copies.withMode('RW')));
    device.unequal = this.unequal;
    this.begin();
  }

  cancel(): void {
    this.cancelled = true;
  }

  private kept(): ReplicaLink[] {
    return this.host.copies.withMode('RW').filter(({ opened }) => opened.kept);
  }

  private async run(): Promise<void> {
    const { copies, device, spec } = this.host;
    const marked = await this.markedRanges();
    this.unequal.become(marked);
    if (this.missing !== undefined) {
      const recent = await unflushedStretches(this.kept(), spec.epoch);
      // If a copy can't say what the others may miss, flushes wait for the whole resync.
      if (recent !== undefined) {
        const urgent = rangesOfStretches(recent).flatMap(({ start, end }) =>
          this.unequal.firstIn(start, end) === undefined
            ? []
            : [{ start, end: Math.min(end, device.sizeBytes) }],
        );
        await this.equaliseAll(urgent, URGENT_IN_FLIGHT);
        this.complete();
      }
    }
    await this.equaliseAll(stepsOf(marked), IN_FLIGHT, (offset) => this.unequal.equalTo(offset));
    await this.tellWhole();
    copies.reads.onlyFrom(undefined);
    device.unequal = undefined;
  }

  /**
   * Tells the copies that each of them now has every acknowledged write. They report it to the next engine as long as
   * their process lives; their marks stay until all is flushed.
   */
  private async tellWhole(): Promise<void> {
    const { copies, spec } = this.host;
    const asked = copies.withMode('RW').map(async ({ control, replicaId }) => {
      const marker = this.markers.get(replicaId);
      if (marker !== undefined)
        await control.command('clear-intent', { epoch: spec.epoch, marker, regions: [] });
    });
    // Errors are ignored: a copy that did not receive it is only trusted less.
    await Promise.allSettled(asked);
  }

  /** @param done called with the offset up to which all ranges have ended, in order */
  private async equaliseAll(
    ranges: Iterable<Range>,
    inFlightMax: number,
    done: (offset: number) => void = () => undefined,
  ): Promise<void> {
    const { copies, device } = this.host;
    const all = ranges[Symbol.iterator]();
    const underWay = new Set<Range>();
    const worker = async (): Promise<void> => {
      for (let next = all.next(); next.done !== true; next = all.next()) {
        if (this.cancelled) throw new Error('making the copies equal was cancelled');
        copies.requireServing();
        const { start, end } = next.value;
        underWay.add(next.value);
        await device.withRange(start, end, () => this.equaliseStep(start, end));
        underWay.delete(next.value);
        done(Math.min(end, ...[...underWay].map((range) => range.start)));
      }
    };
    await Promise.all(Array.from({ length: inFlightMax }, worker));
  }

  /**
   * Retries a range that failed: an unreadable range says nothing about the rest. A single current copy needs no
   * retry, as it is equal to itself.
   */
  private async equaliseStep(start: number, end: number): Promise<void> {
    const { copies, ports } = this.host;
    while (copies.withMode('RW').length > 1) {
      try {
        await equaliseRange(copies, start, end);
        return;
      } catch {
        copies.requireServing();
        if (this.cancelled) throw new Error('making the copies equal was cancelled');
        await ports.time.sleep(RETRY_MS);
      }
    }
  }

  /** The union of the copies' write-intent maps, as ordered byte ranges. */
  private async markedRanges(): Promise<{ start: number; end: number }[]> {
    const { copies, spec, device } = this.host;
    const marked = new Map<number, number>();
    await Promise.all(
      copies.withMode('RW').map(async (link) => {
        try {
          const { regionBytes, regions, marker } = await link.control.command('intent', {
            epoch: spec.epoch,
          });
          this.markers.set(link.replicaId, marker);
          for (const [first, count] of regions) {
            const start = first * regionBytes;
            marked.set(start, Math.max(marked.get(start) ?? 0, start + count * regionBytes));
          }
        } catch (error) {
          copies.fail(link, error);
        }
      }),
    );
    const ranges: { start: number; end: number }[] = [];
    for (const [start, end] of [...marked].sort(([a], [b]) => a - b)) {
      const last = ranges.at(-1);
      if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
      else ranges.push({ start, end });
    }
    for (const range of ranges) range.end = Math.min(range.end, device.sizeBytes);
    return ranges;
  }
}

function* stepsOf(ranges: readonly Range[]): Generator<Range> {
  for (const { start, end } of ranges) {
    for (let at = start; at < end; at += STEP_BYTES) yield { start: at, end: Math.min(at + STEP_BYTES, end) };
  }
}

/**
 * What the others may have lost in the stop, as reported by copies whose replica processes lived through it; ordered. `undefined` if
 * one of them can't answer.
 */
async function unflushedStretches(
  links: readonly ReplicaLink[],
  epoch: number,
): Promise<[stretch: number, blocks: number][] | undefined> {
  const lists = await Promise.all(links.map((link) => listOf(link, epoch).catch(() => undefined)));
  const union = new Map<number, number>();
  for (const list of lists) {
    if (list === undefined) return undefined;
    for (const [stretch, blocks] of list) union.set(stretch, (union.get(stretch) ?? 0) | blocks);
  }
  return [...union].sort(([a], [b]) => a - b);
}

async function listOf({ control }: ReplicaLink, epoch: number): Promise<[number, number][] | undefined> {
  const list: [number, number][] = [];
  for (let from: number | null = 0; from !== null; ) {
    const reply: { stretches: string | null; next: number | null } = await control.command('unflushed', {
      epoch,
      from,
    });
    if (reply.stretches === null) return undefined;
    list.push(...decodeStretches(reply.stretches));
    from = reply.next;
  }
  return list;
}
