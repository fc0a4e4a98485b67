/**
 * Thread pool for computations that may take seconds: what-ifs, drain plans, explanations. Requests, heartbeats and liveness continue
 * meanwhile.
 *
 * Every job is bounded: by time and memory, by the disconnection of its caller, and by the number of waiting jobs. A job is ended with its
 * thread. Organizations are served round-robin: a busy one delays another by one job.
 */
import { fileURLToPath } from 'node:url';
import { type FaultCode, type FaultDetails, StorageFault } from '@holdfast/core/model/faults.js';
import { FairSlots } from '@holdfast/database/sql/fair-slots.js';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Piscina } from 'piscina';
import type { Tenant } from '../../access/tenant.js';

/** The functions that threads run, by name: callers declare their types here. Inputs and outputs are plain data, which threads copy. */
// biome-ignore lint/suspicious/noEmptyInterface: the users of the pool add to it
export interface Jobs {}
export type JobName = keyof Jobs;
type Job<Name extends JobName> = Extract<Jobs[Name], (...input: never[]) => unknown>;

/** Message to a thread, and its answer. */
export type ThreadTask = { readonly name: JobName; readonly input: readonly unknown[] };
export type ThreadAnswer =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'refused'; readonly code: FaultCode; readonly details: Omit<FaultDetails, 'cause'> };

/** Path of the compiled file, both from compiled sources and from the sources that tests run. */
const THREAD = fileURLToPath(new URL('../../../dist/app/thread.js', import.meta.url));

export type ThreadLimits = {
  readonly threads: number;
  /** Jobs of one organization that wait for a thread; further ones are refused. */
  readonly waitingOfOwner: number;
  /** Waiting jobs of all organizations. Each holds a fleet in memory. */
  readonly waiting: number;
  readonly seconds: number;
  readonly mebibytes: number;
};

/**
 * A second core stays free. The largest what-if that is let in (10,000 volumes of 1,000 nodes lose a copy) took 28 s on a busy
 * machine of two cores, and 200 MB.
 */
const LIMITS: ThreadLimits = { threads: 1, waitingOfOwner: 4, waiting: 16, seconds: 60, mebibytes: 1024 };
/** Idle time after which a thread ends, to release its memory. */
const IDLE_MS = 30_000;

@Injectable()
export class ThreadPool implements OnModuleDestroy {
  private readonly limits = LIMITS;
  private readonly slots = new FairSlots(
    { ...this.limits, slots: this.limits.threads, ofOwner: this.limits.threads },
    busy,
  );
  private readonly pool = new Piscina<ThreadTask, ThreadAnswer>({
    filename: THREAD,
    minThreads: 0,
    maxThreads: this.limits.threads,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: this.limits.mebibytes },
  });

  /**
   * @param caller its organization, and the signal of its disconnection
   * @throws StorageFault `compute.busy`, `compute.too_costly`, and the job's own refusals
   */
  async run<Name extends JobName>(
    name: Name,
    input: Parameters<Job<Name>>,
    { actor, gone }: Pick<Tenant, 'actor' | 'gone'>,
  ): Promise<Awaited<ReturnType<Job<Name>>>> {
    const answer = await this.slots.use(
      actor.organizationId,
      async () => {
        const late = AbortSignal.timeout(this.limits.seconds * 1000);
        try {
          return await this.pool.run({ name, input }, { signal: AbortSignal.any([gone, late]) });
        } catch (error) {
          throw this.faultOf(error, late);
        }
      },
      { ms: this.limits.seconds * 1000, gone },
    );
    if (answer.kind === 'refused') throw new StorageFault(answer.code, answer.details);
    // The thread's output has the return type of the named job.
    return answer.output as Awaited<ReturnType<Job<Name>>>;
  }

  async onModuleDestroy(): Promise<void> {
    await this.pool.destroy();
  }

  private faultOf(error: unknown, late: AbortSignal): unknown {
    if (!(error instanceof Error)) return error;
    const isOutOfMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (!late.aborted && !isOutOfMemory) return error;
    const what = isOutOfMemory ? `${this.limits.mebibytes} MiB` : `${this.limits.seconds} s`;
    return new StorageFault('compute.too_costly', {
      publicMessage: `the answer takes more than ${what} to work out`,
      cures: ['ask about fewer volumes, losses or changes at once', 'leave howManyMore out'],
    });
  }
}

function busy(): StorageFault {
  return new StorageFault('compute.busy', {
    publicMessage: 'other what-ifs and explanations are worked out or wait for it already',
    cures: ['ask again in a moment'],
  });
}
