/**
 * Pool of threads for what may compute for seconds: what-ifs, drain plans, explanations. Requests, heartbeats and liveness go
 * on meanwhile.
 *
 * Every job is bounded: by the time and memory that it may take, by its caller, who may go away, and by the number of jobs that
 * wait. A job that is ended ends with its thread. Organizations take turns: one that asks for much delays another one by a job.
 */
import { fileURLToPath } from 'node:url';
import { type FaultCode, type FaultDetails, StorageFault } from '@holdfast/core/model/faults.js';
import { FairSlots } from '@holdfast/database/sql/fair-slots.js';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Piscina } from 'piscina';
import type { Tenant } from '../../access/tenant.js';

/** The functions that threads run, by name: who asks for one declares its type here. What goes in and out is plain data, which threads copy. */
// biome-ignore lint/suspicious/noEmptyInterface: the users of the pool add to it
export interface Jobs {}
export type JobName = keyof Jobs;
type Job<Name extends JobName> = Extract<Jobs[Name], (...input: never[]) => unknown>;

/** What a thread is given, and what it answers. */
export type ThreadTask = { readonly name: JobName; readonly input: readonly unknown[] };
export type ThreadAnswer =
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'refused'; readonly code: FaultCode; readonly details: Omit<FaultDetails, 'cause'> };

/** The compiled file, from the compiled sources and from the sources, which tests run. */
const THREAD = fileURLToPath(new URL('../../../dist/app/thread.js', import.meta.url));

export type ThreadLimits = {
  readonly threads: number;
  /** Jobs of one organization that wait for a thread; a further one is refused, since its caller would only wait longer. */
  readonly waitingOfOwner: number;
  /** Jobs that wait, of all organizations. Each holds the fleet that it is about. */
  readonly waiting: number;
  readonly seconds: number;
  readonly mebibytes: number;
};

/**
 * A second core stays free. The largest what-if that is let in (10,000 volumes of 1,000 nodes lose a copy) took 28 s on a busy
 * machine of two cores, and 200 MB.
 */
const LIMITS: ThreadLimits = { threads: 1, waitingOfOwner: 4, waiting: 16, seconds: 60, mebibytes: 1024 };
/** A thread that has nothing to do gives its memory back after a while. */
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
   * @param caller whose turn it is, and whether the answer is still awaited
   * @throws StorageFault `compute.busy`, `compute.too_costly`, and whatever the job refuses with
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
    // What the thread returned is what the job of this name returns.
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
