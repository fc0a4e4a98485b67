/**
 * The agent's heartbeat loop: reports the node's disks, copies and engines to the control plane, regularly and at once
 * when something changes. While a report says what the one before it said, only that is sent
 * (docs/adr/0344-repeated-reports.md).
 *
 * The agent serves its volumes whether or not the API answers; while it does not, the loop sends less and less often.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Heartbeat,
  type HeartbeatRepeat,
  type HeartbeatReply,
  heartbeatRepeatReplySchema,
  heartbeatReplySchema,
} from '@holdfast/core/model/agent-protocol.js';
import type { Logger } from 'pino';
import type { JsonAnswer } from './json-http.js';
import { LastReport } from './last-report.js';

const FIRST_INTERVAL_MS = 2_000;
const TIMEOUT_MS = 5_000;
/**
 * Longest pause while the API is down. Less than the smallest `agent-heartbeat-timeout`, so that an API that is back
 * hears of every agent before it may call one silent.
 */
const BACK_OFF_MAX_MS = 4_000;
/** Delay before a heartbeat, in which changes that come together are gathered. */
const GATHER_MS = 20;

export type HeartbeatOptions = {
  collect: () => Promise<Heartbeat>;
  /** Sends it to the control plane. */
  report: (heartbeat: Heartbeat, timeoutMs: number) => Promise<JsonAnswer>;
  /** Tells the control plane that the last report holds. */
  repeat: (repeat: HeartbeatRepeat, timeoutMs: number) => Promise<JsonAnswer>;
  /** Does what the control plane answers. The next heartbeat waits for it. */
  heard: (reply: HeartbeatReply) => Promise<void>;
  log: Logger;
};

export class HeartbeatLoop {
  private readonly last = new LastReport();
  private intervalMs = FIRST_INTERVAL_MS;
  private failures = 0;
  private lastError = '';
  private stopped = new AbortController();
  private wake: () => void = () => undefined;
  private changed = false;
  private ended: Promise<void> | undefined;

  constructor(private readonly options: HeartbeatOptions) {}

  start(): void {
    this.ended ??= this.run();
  }

  /** Asks for a heartbeat at once, for a change that the control plane should hear of. */
  soon(): void {
    this.changed = true;
    // While the API is down a change does not hurry the next attempt.
    if (this.failures === 0) this.wake();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    this.wake();
    await this.ended;
  }

  private async run(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      this.changed = false;
      await this.send();
      await this.rest();
    }
  }

  private async send(): Promise<void> {
    try {
      const heartbeat = await this.options.collect();
      const reply = (await this.repeat(heartbeat)) ?? (await this.report(heartbeat));
      this.intervalMs = reply.intervalMs;
      if (this.failures > 0) this.options.log.info('the API answers again');
      this.failures = 0;
      this.lastError = '';
      await this.options.heard(reply);
    } catch (error) {
      this.failures += 1;
      // One line for each reason: a long outage must not fill the log.
      const text = String(error);
      if (text !== this.lastError) this.options.log.warn({ error: text }, 'heartbeat failed; trying again');
      this.lastError = text;
    }
  }

  private async report(heartbeat: Heartbeat): Promise<HeartbeatReply> {
    this.last.forget();
    const answer = await this.options.report(heartbeat, TIMEOUT_MS);
    const reply = heartbeatReplySchema.parse(bodyOf(answer));
    this.last.note(heartbeat, reply);
    return reply;
  }

  /** @returns undefined where the whole report has to be sent */
  private async repeat(heartbeat: Heartbeat): Promise<HeartbeatReply | undefined> {
    const repeat = this.last.repeatOf(heartbeat);
    if (repeat === undefined) return undefined;
    const answer = await this.options.repeat(repeat, TIMEOUT_MS);
    // Refused, or answered by an older API: the whole report gets the answer that explains it.
    if (answer.status >= 400 && answer.status < 500) return undefined;
    const { isEnough, intervalMs, stamps } = heartbeatRepeatReplySchema.parse(bodyOf(answer));
    return isEnough ? this.last.confirm(intervalMs, stamps) : undefined;
  }

  private async rest(): Promise<void> {
    if (this.stopped.signal.aborted) return;
    // The sleep is ended by a wake-up, not raced with it: a sleep that went on would add one listener each time.
    const resting = new AbortController();
    this.wake = () => resting.abort();
    if (!(this.changed && this.failures === 0)) await sleep(this.pauseMs(), resting.signal);
    await sleep(GATHER_MS, this.stopped.signal);
  }

  private pauseMs(): number {
    if (this.failures === 0) return this.intervalMs;
    const longest = Math.min(BACK_OFF_MAX_MS, this.intervalMs * 2 ** Math.min(this.failures, 8));
    // At random, or all agents would send at the same moment when the API is back.
    return longest * (0.5 + Math.random() / 2);
  }
}

function bodyOf({ status, body }: JsonAnswer): unknown {
  if (status === 200 || status === 201) return body;
  throw new Error(`the API answered ${status}: ${JSON.stringify(body).slice(0, 300)}`);
}

/** Sleeps, and ends early without an error when the signal is aborted. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}
