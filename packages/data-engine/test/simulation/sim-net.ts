/**
 * Simulated network between nodes: control calls, and data connections to copies. Messages take time; a link may be
 * cut in one direction, or lose, delay and duplicate control calls. A connection delivers everything in order, late
 * if need be, unless it ends first, as TCP does.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { Life, type World } from './world.js';

/** Random faults of a control call. */
export type Mischief = { late: boolean; doubled: boolean; replyLost: boolean };

/** Minimum time for which a lost packet is retransmitted: after that the link may have healed. */
const RESEND_MS = 200;
const LATE_MAX_MS = 45_000;
const DOUBLE_MAX_MS = 6_000;

export class SimNet {
  private readonly cuts = new Set<string>();
  /** Probability of each fault as one in so many control calls; 0 for none. */
  mischiefOneIn = 0;
  /** Delivers every control call twice; the first answer counts. */
  isDoubling = false;
  /** Commands of this name that have arrived, and wait until `release`. */
  private held:
    | { readonly name: string; readonly waiting: (() => void)[]; readonly onFirst: () => void }
    | undefined;
  /** Called when a copy has carried out a command, before any answer is sent. */
  onCommand: (name: string, node: string) => void = () => undefined;

  constructor(readonly world: World) {}

  cut(from: string, to: string): void {
    this.cuts.add(`${from}>${to}`);
  }

  heal(from: string, to: string): void {
    this.cuts.delete(`${from}>${to}`);
  }

  healAll(): void {
    this.cuts.clear();
  }

  isCut(from: string, to: string): boolean {
    return this.cuts.has(`${from}>${to}`);
  }

  /** Holds commands of this name where they arrive; calls `onFirst` for the first one. */
  hold(name: string, onFirst: () => void): void {
    this.release();
    this.held = { name, waiting: [], onFirst };
  }

  release(): void {
    for (const go of this.held?.waiting ?? []) go();
    this.held = undefined;
  }

  /** Resolves when a command of this name may run; never, if the process dies first. */
  mayRun(name: string, life: Life): Promise<void> {
    const { held } = this;
    if (held?.name !== name) return Promise.resolve();
    return new Promise((resolve) => {
      held.waiting.push(() => void life.later(0, resolve));
      if (held.waiting.length === 1) held.onFirst();
    });
  }

  /** Resolves when a packet gets through; while the link is cut it is retransmitted. */
  deliver(from: string, to: string, isWanted: () => boolean, arrive: () => void): void {
    if (!isWanted()) return;
    if (this.isCut(from, to)) {
      this.world.after(RESEND_MS, () => this.deliver(from, to, isWanted, arrive));
      return;
    }
    this.world.after(this.world.duration(0.05, 2), () => {
      if (isWanted()) arrive();
    });
  }

  /**
   * A control call. The caller gives up after `timeoutMs`; the request may still be carried out later.
   *
   * @param receiver the process that listens when the call arrives; `undefined` refuses the connection
   */
  call<T>(
    caller: { life: Life; node: string },
    to: string,
    receiver: () => { life: Life; run: () => Promise<T> } | undefined,
    timeoutMs: number,
  ): Promise<T> {
    const mischief = this.mischief();
    return new Promise((resolve, reject) => {
      const unreachable = (why: string) =>
        reject(new StorageFault('agent.unreachable', { publicMessage: `${to} does not answer: ${why}` }));
      caller.life.later(timeoutMs, () => unreachable(`nothing within ${timeoutMs} ms`));
      const answer = (tell: () => void) => {
        if (mischief.replyLost) return;
        this.deliver(
          to,
          caller.node,
          () => true,
          () => void caller.life.later(0, tell),
        );
      };
      const execute = (isFirst: boolean) => {
        const found = receiver();
        if (found === undefined) {
          if (isFirst) answer(() => unreachable('connection refused'));
          return;
        }
        found.life.later(0, () => {
          found.run().then(
            (value) => answer(() => resolve(value)),
            (error: unknown) => answer(() => reject(error)),
          );
        });
      };
      const lateMs = mischief.late ? this.world.duration(50, LATE_MAX_MS) : 0;
      this.deliver(
        caller.node,
        to,
        () => true,
        () => void this.world.after(lateMs, () => execute(true)),
      );
      // Retransmitted on another connection after the first was cut: carried out twice.
      if (mischief.doubled) {
        const againMs = this.world.duration(1, this.isDoubling ? DOUBLE_MAX_MS : LATE_MAX_MS);
        this.world.after(againMs, () =>
          this.deliver(
            caller.node,
            to,
            () => true,
            () => execute(false),
          ),
        );
      }
    });
  }

  private mischief(): Mischief {
    const { random } = this.world;
    const has = () => this.mischiefOneIn > 0 && random.chance(this.mischiefOneIn);
    return { late: has(), doubled: has() || this.isDoubling, replyLost: has() };
  }
}
