/** Stamp of a simulated disk: kept and advanced by the rules by which a real agent does. */
import type { StampReport } from '@holdfast/core/model/agent-protocol.js';
import { type HeldStamp, stampAfter, stampReport } from '@holdfast/core/model/disk-stamp.js';

/** Pause between two stamps of a disk in use. */
const ADVANCE_MS = 5_000;

export class SimStamp {
  held: HeldStamp | undefined;
  /** Stamp stored by the control plane, as far as this run of the agent knows; `undefined`: none was received. */
  private confirmedId: string | null | undefined;
  /** A copy on the disk has been opened in this life of the agent. */
  isUsed = false;
  private advancedMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly newId: () => string,
    /** Of the file system: a copy of the disk's files has another one. */
    readonly fileId: string,
  ) {}

  get isConfirmed(): boolean {
    return this.confirmedId === (this.held?.id ?? null);
  }

  report(nowMs: number): StampReport {
    const isDue = nowMs - this.advancedMs >= ADVANCE_MS;
    if (this.isUsed && this.isConfirmed && isDue) this.advance(nowMs);
    return stampReport(this.held, this.fileId);
  }

  advance(nowMs: number): void {
    this.held = stampAfter(this.held, true, this.newId());
    this.advancedMs = nowMs;
  }

  confirm(stampId: string | null): void {
    this.confirmedId = stampId;
  }

  /** Another process of an agent has the disk: it knows of no confirmation. */
  restart(): void {
    this.confirmedId = undefined;
    this.isUsed = false;
    this.advancedMs = Number.NEGATIVE_INFINITY;
  }
}
