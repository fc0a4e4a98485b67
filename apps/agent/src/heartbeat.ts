/**
 * Tells the control plane what there is on this node: regularly, and at once when something changes.
 *
 * The agent serves its volumes whether or not anybody answers; while nobody does, it asks less and less often.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Heartbeat, heartbeatReplySchema } from '@holdfast/core/model/agent-protocol.js';
import type { Logger } from 'pino';
import { postJson } from './json-http.js';

const FIRST_INTERVAL_MS = 2_000;
const TIMEOUT_MS = 5_000;
/**
 * The longest silence while the API is down. Below the smallest `agent-heartbeat-timeout`, so that an API that is back
 * hears of every agent before it may call one silent.
 */
const BACK_OFF_MAX_MS = 4_000;
/** Changes that come together are told together. */
const GATHER_MS = 20;

export type HeartbeatOptions = {
  apiUrl: string;
  token: string;
  collect: () => Promise<Heartbeat>;
  log: Logger;
};

export class HeartbeatLoop {
  private intervalMs = FIRST_INTERVAL_MS;
  private failures = 0;
  private stopped = new AbortController();
  private wake: () => void = () => undefined;
  private changed = false;
  private ended: Promise<void> | undefined;

  constructor(private readonly options: HeartbeatOptions) {}

  start(): void {
    this.ended ??= this.run();
  }

  /** Something worth telling at once has happened. */
  soon(): void {
    this.changed = true;
    // While the API is down a change does not hurry it.
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
      const { apiUrl, token, collect } = this.options;
      const { status, body } = await postJson(
        `${apiUrl}/agent/heartbeat`,
        token,
        await collect(),
        TIMEOUT_MS,
      );
      if (status !== 200 && status !== 201)
        throw new Error(`the API answered ${status}: ${JSON.stringify(body).slice(0, 300)}`);
      this.intervalMs = heartbeatReplySchema.parse(body).intervalMs;
      if (this.failures > 0) this.options.log.info('the API answers again');
      this.failures = 0;
    } catch (error) {
      this.failures += 1;
      // Once is enough: a long outage must not fill the log.
      if (this.failures === 1)
        this.options.log.warn({ error: String(error) }, 'heartbeat failed; trying again');
    }
  }

  private async rest(): Promise<void> {
    if (this.stopped.signal.aborted) return;
    // Ended by a wake-up, not raced with one: a sleep that went on would be one more listener each time.
    const resting = new AbortController();
    this.wake = () => resting.abort();
    if (!(this.changed && this.failures === 0)) await sleep(this.pauseMs(), resting.signal);
    await sleep(GATHER_MS, this.stopped.signal);
  }

  private pauseMs(): number {
    if (this.failures === 0) return this.intervalMs;
    const longest = Math.min(BACK_OFF_MAX_MS, this.intervalMs * 2 ** Math.min(this.failures, 8));
    // Spread out, or all agents would come at once when the API is back.
    return longest * (0.5 + Math.random() / 2);
  }
}

/** Ends early, without an error, when the signal says so. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}
