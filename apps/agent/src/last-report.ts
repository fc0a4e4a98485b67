import crypto from 'node:crypto';
import type { Heartbeat, HeartbeatRepeat, HeartbeatReply } from '@holdfast/core/model/agent-protocol.js';
import { reportText, unconfirmedStamps } from '@holdfast/core/model/report-text.js';

/**
 * Time after which a report is sent in full although nothing has changed: should a rule of what ends a report be wrong, what
 * it misses lasts no longer. With a thousand nodes that is three whole reports a second.
 */
const WHOLE_AFTER_MS = 300_000;

type Confirmed = { digest: string; reportId: string; reply: HeartbeatReply; wholeAtMs: number };

/** The last report that the control plane has confirmed, and that a repeat may name. */
export class LastReport {
  private confirmed: Confirmed | undefined;
  private readonly stamps = new Map<string, string | null>();

  /** Before a report is sent: should its answer be lost, it is not known which of two the control plane has stored. */
  forget(): void {
    this.confirmed = undefined;
  }

  note(heartbeat: Heartbeat, reply: HeartbeatReply): void {
    this.stamps.clear();
    this.noteStamps(reply.stamps ?? []);
    const { reportId } = reply;
    if (reportId === undefined) return;
    // At random, or all agents of a control plane that has started would send it at the same moment.
    const wholeAtMs = performance.now() + WHOLE_AFTER_MS * (0.5 + Math.random() / 2);
    this.confirmed = { digest: digestOf(heartbeat), reportId, reply, wholeAtMs };
  }

  /** @returns undefined: the report has to be sent */
  repeatOf(heartbeat: Heartbeat): HeartbeatRepeat | undefined {
    const { confirmed, stamps } = this;
    if (confirmed === undefined || performance.now() >= confirmed.wholeAtMs) return undefined;
    if (digestOf(heartbeat) !== confirmed.digest) return undefined;
    const { name, bootId, controlUrl, nbdHost } = heartbeat.node;
    const { reportId } = confirmed;
    return { reportId, name, bootId, controlUrl, nbdHost, stamps: unconfirmedStamps(heartbeat, stamps) };
  }

  /**
   * @param stamps of those that were sent with the repeat, which are stored
   * @returns the answer to the report that holds: what users want of disks is tried again as after each answer
   */
  confirm(intervalMs: number, stamps: NonNullable<HeartbeatReply['stamps']>): HeartbeatReply | undefined {
    this.noteStamps(stamps);
    return this.confirmed && { ...this.confirmed.reply, intervalMs, stamps };
  }

  private noteStamps(stamps: NonNullable<HeartbeatReply['stamps']>): void {
    for (const { diskId, stampId } of stamps) this.stamps.set(diskId, stampId);
  }
}

function digestOf(heartbeat: Heartbeat): string {
  return crypto.createHash('sha256').update(reportText(heartbeat)).digest('hex');
}
