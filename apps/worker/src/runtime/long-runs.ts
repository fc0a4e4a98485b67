/**
 * Runs of reconcilers that wait for slow agents. A run that takes longer than a moment continues without its slot in the queue, and
 * one organization may have only so many of these: agents that hang delay their own organization and no other.
 *
 * Nothing is lost when the process dies: the subject of such a run stays due in the store, as during any run.
 */

export type LongRunLimits = {
  /**
   * How long a run holds its slot. A healthy agent answers within milliseconds, and the longer it is, the longer others wait when
   * many runs begin to hang at once.
   */
  readonly slotMs: number;
  /** Runs without a slot, of all organizations: a promise and a socket each. */
  readonly runsMax: number;
};

export const LIMITS: LongRunLimits = { slotMs: 250, runsMax: 128 };

export type LongRunHooks = {
  /** Wakes the subject of a run again: a wake-up came while the run went on without a slot. */
  readonly wakeAgain: (key: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
};

type Run = { owner: string | undefined; isLong: boolean; isWanted: boolean; ended: Promise<void> };

/** Asks for leave to call agents. False: the owner's runs without a slot are as many as they may be. */
export type MayAct = (owner: string) => boolean;

export class LongRuns {
  private readonly long = new Map<string, Run>();

  constructor(
    private readonly hooks: LongRunHooks,
    private readonly limits: LongRunLimits = LIMITS,
  ) {}

  /** Resolves with the work, or when its slot is to be returned. Work on a subject that is still running is not begun twice. */
  async run(key: string, work: (mayAct: MayAct) => Promise<unknown>): Promise<void> {
    const known = this.long.get(key);
    if (known !== undefined) {
      known.isWanted = true;
      return;
    }
    const run: Run = { owner: undefined, isLong: false, isWanted: false, ended: Promise.resolve() };
    const working = work((owner) => {
      run.owner = owner;
      return run.isLong || this.hasRoom(owner);
    });
    if (await endsWithin(working, this.limits.slotMs)) return;
    run.isLong = true;
    this.long.set(key, run);
    run.ended = working
      .then(() => undefined, this.hooks.onError)
      .then(() => this.end(key, run))
      .catch(this.hooks.onError);
  }

  get count(): number {
    return this.long.size;
  }

  /** Waits for all of them. */
  async stop(): Promise<void> {
    await Promise.all([...this.long.values()].map(({ ended }) => ended));
  }

  /** One more while the owner has fewer than are left for all, so that there always are some for the next owner. */
  private hasRoom(owner: string): boolean {
    const ofOwner = [...this.long.values()].filter((run) => run.owner === owner).length;
    return ofOwner < this.limits.runsMax - this.long.size;
  }

  private async end(key: string, run: Run): Promise<void> {
    this.long.delete(key);
    if (run.isWanted) await this.hooks.wakeAgain(key);
  }
}

/** @throws what the work throws within the time */
async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
