/**
 * Makes the copies equal after an unclean stop: in every region that some copy had marked, all copies get what one
 * of them holds. Until that is done, reads come from that one, and what is read is made equal before it is answered.
 *
 * First comes what a flush has to wait for (docs/adr/0139): what the copies that lived through the stop have changed lately,
 * which another one may have lost with its process.
 *
 * It may be interrupted at any point: the copies keep their marks until the engine knows that all are equal.
 */
import type { Ports } from '../ports.js';
import type { IntentMarker } from '../replica/commands.js';
import { rangesOfStretches } from '../replica/recent-changes.js';
import { type Copies, preferredSource } from './copies.js';
import { equaliseRange, STEP_BYTES } from './equalise.js';
import type { ReplicaLink } from './replica-link.js';
import { type Range, UnequalRanges } from './unequal-ranges.js';
import { unflushedStretches } from './unflushed-stretches.js';

/** Ranges under way at once while a flush waits; a disk does several at once in nearly the time of one. */
const URGENT_IN_FLIGHT = 16;
/** While nobody waits, users come first. */
const IN_FLIGHT = 2;

/** Between attempts at a range that could not be made equal. */
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
  /** Ends when every copy has all that was acknowledged; absent where they all have it from the start. */
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
    // Whoever waits for the end sees the failure; without a waiter it is no unhandled one.
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
    copies.readOnlyFrom(preferredSource(copies.withMode('RW')));
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
      // A copy that can't say what is missing elsewhere leaves no choice but to wait for all.
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
    copies.readOnlyFrom(undefined);
    device.unequal = undefined;
  }

  /**
   * Each copy has all that was ever acknowledged from now on, and says so to the next engine as long as its process lives,
   * though its marks stay until all is flushed.
   */
  private async tellWhole(): Promise<void> {
    const { copies, spec } = this.host;
    const asked = copies.withMode('RW').map(async ({ control, replicaId }) => {
      const marker = this.markers.get(replicaId);
      if (marker !== undefined) await control.command('settle', { epoch: spec.epoch, marker, regions: [] });
    });
    // One that can't be told is only trusted less.
    await Promise.allSettled(asked);
  }

  /** @param done told up to where, in the order of the ranges, all have ended */
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
   * A request that fails is asked again: what the last copies can't be read for now says nothing about the rest. A single
   * current copy is equal to itself, whatever it can't read.
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

  /** The union of what the copies have marked, as byte ranges in order. */
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
