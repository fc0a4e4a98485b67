/**
 * Makes the copies equal after an unclean stop: in every region that some copy had marked, all copies get what one
 * of them holds. Until that is done, reads come from that one.
 *
 * It may be interrupted at any point: the copies keep their marks until the engine knows that all are equal.
 */
import { MIB } from '@holdfast/core/model/bytes.js';
import { contiguous } from '../nbd/export.js';
import { type Copies, preferredSource } from './copies.js';
import type { ReplicaLink } from './replica-link.js';

/** What is compared, and locked against writes, at once. */
const STEP_BYTES = MIB;

export interface ResyncHost {
  readonly spec: { epoch: number };
  readonly copies: Copies;
  readonly device: {
    readonly sizeBytes: number;
    withRange<T>(start: number, end: number, work: () => Promise<T>): Promise<T>;
  };
}

/**
 * Makes all current copies equal in a range that the caller has locked. One that can't take the bytes is dropped, as
 * long as another is left.
 */
export async function equaliseRange(copies: Copies, start: number, end: number): Promise<void> {
  for (let at = start; at < end; at += STEP_BYTES) {
    await equaliseStep(copies, at, Math.min(at + STEP_BYTES, end));
  }
}

async function equaliseStep(copies: Copies, start: number, end: number): Promise<void> {
  const wanted = contiguous(await copies.read(start, end - start));
  await Promise.all(copies.withMode('RW').map((link) => equaliseOne(copies, link, start, wanted)));
  await copies.membership.settled();
}

async function equaliseOne(copies: Copies, link: ReplicaLink, start: number, wanted: Buffer): Promise<void> {
  try {
    const held = contiguous(await link.client.read(start, wanted.length));
    if (!held.equals(wanted)) await link.client.write(start, [wanted], wanted.length, { fua: false });
  } catch (error) {
    copies.fail(link, error);
  }
}

export class Resync {
  readonly finished: Promise<void>;
  private cancelled = false;
  private begin: () => void = () => undefined;

  constructor(private readonly host: ResyncHost) {
    const started = new Promise<void>((resolve) => {
      this.begin = resolve;
    });
    this.finished = started.then(() => this.run());
    // Whoever waits for the end sees the failure; without a waiter it is no unhandled one.
    this.finished.catch(() => undefined);
  }

  start(): void {
    const { copies } = this.host;
    copies.readOnlyFrom(preferredSource(copies.withMode('RW')));
    this.begin();
  }

  cancel(): void {
    this.cancelled = true;
  }

  private async run(): Promise<void> {
    const { copies } = this.host;
    for (const { start, end } of await this.markedRanges()) {
      for (let at = start; at < end; at += STEP_BYTES) {
        if (this.cancelled) throw new Error('making the copies equal was cancelled');
        copies.requireServing();
        await this.equalise(at, Math.min(at + STEP_BYTES, end));
      }
    }
    copies.readOnlyFrom(undefined);
  }

  private async equalise(start: number, end: number): Promise<void> {
    await this.host.device.withRange(start, end, () => equaliseStep(this.host.copies, start, end));
  }

  /** The union of what the copies have marked, as byte ranges in order. */
  private async markedRanges(): Promise<{ start: number; end: number }[]> {
    const { copies, spec, device } = this.host;
    const marked = new Map<number, number>();
    await Promise.all(
      copies.withMode('RW').map(async (link) => {
        try {
          const { regionBytes, regions } = await link.control.command('intent', { epoch: spec.epoch });
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
