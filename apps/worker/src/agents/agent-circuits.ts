/**
 * Circuit breakers for silent agents, so that not every call waits out its own limit to find the silence again.
 *
 * Only silence is remembered: a refused connection costs a millisecond and is simply tried again. An agent becomes
 * silent by a call that ran out of time while nothing at all came from it. From then on calls to it first wait for a
 * short probe, which they share; where that fails they fail at once, until the next probe is due. Anything that is
 * heard from the agent ends it.
 */

/** A live agent answers this within milliseconds, also while its disks are busy. */
const PROBE_LIMIT_MS = 1_000;
/** Between two probes: an agent that is back is used again after this at the latest. */
const PROBE_PAUSE_MS = 1_000;
/** Far more than a cluster has. Those that were silent for the longest are forgotten first, which costs one call's limit. */
const SILENT_MAX = 10_000;

/** True when anything was answered within the limit. Never rejects. */
export type Probe = (controlUrl: string, limitMs: number) => Promise<boolean>;

type Silence = { probedAtMs: number; probing: Promise<boolean> | undefined };

export class AgentCircuits {
  /** By control address, so that an agent that has moved starts afresh. */
  private readonly silent = new Map<string, Silence>();
  private readonly heardAtMs = new Map<string, number>();
  private readonly underWay = new Map<string, number>();

  constructor(
    private readonly probe: Probe,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Runs the call unless the agent is silent. Rejects with what `refuse` makes. */
  async run<T>(controlUrl: string, call: () => Promise<T>, refuse: () => Error): Promise<T> {
    if (this.silent.has(controlUrl) && !(await this.answersAgain(controlUrl))) throw refuse();
    const startedAtMs = this.nowMs();
    this.underWay.set(controlUrl, (this.underWay.get(controlUrl) ?? 0) + 1);
    try {
      const answer = await call();
      this.heard(controlUrl);
      return answer;
    } catch (error) {
      if (!(error instanceof SilenceError)) this.heard(controlUrl);
      else if ((this.heardAtMs.get(controlUrl) ?? Number.NEGATIVE_INFINITY) < startedAtMs)
        this.fellSilent(controlUrl);
      throw error;
    } finally {
      this.ended(controlUrl);
    }
  }

  private async answersAgain(controlUrl: string): Promise<boolean> {
    const silence = this.silent.get(controlUrl);
    if (silence === undefined) return true;
    if (silence.probing === undefined) {
      if (this.nowMs() - silence.probedAtMs < PROBE_PAUSE_MS) return false;
      silence.probing = this.probe(controlUrl, PROBE_LIMIT_MS).then((isAlive) => {
        silence.probing = undefined;
        silence.probedAtMs = this.nowMs();
        if (isAlive) this.heard(controlUrl);
        return isAlive;
      });
    }
    return silence.probing;
  }

  private fellSilent(controlUrl: string): void {
    if (this.silent.has(controlUrl)) return;
    const oldest = this.silent.keys().next();
    if (this.silent.size >= SILENT_MAX && oldest.done === false) this.silent.delete(oldest.value);
    // The next call probes at once: this one may have waited for something that only it needed.
    this.silent.set(controlUrl, { probedAtMs: Number.NEGATIVE_INFINITY, probing: undefined });
  }

  private heard(controlUrl: string): void {
    this.silent.delete(controlUrl);
    this.heardAtMs.set(controlUrl, this.nowMs());
  }

  /** An answer counts only for calls that were under way at that moment. */
  private ended(controlUrl: string): void {
    const left = (this.underWay.get(controlUrl) ?? 1) - 1;
    if (left > 0) {
      this.underWay.set(controlUrl, left);
      return;
    }
    this.underWay.delete(controlUrl);
    this.heardAtMs.delete(controlUrl);
  }
}

/** A call that ran out of time. */
export class SilenceError extends Error {}
