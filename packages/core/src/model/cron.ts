/**
 * Schedules in the form of cron: five fields (minute, hour, day of month, month, day of week) or a name such as
 * `@daily`, always in UTC. A day that either of the two day fields names counts, as in every cron.
 */
import { Cron } from 'croner';

const FORM = /^(@(hourly|daily|weekly|monthly|yearly)|\S+( +\S+){4})$/;
/** Longer ones are lists that several schedules say better. */
const CRON_LENGTH_MAX = 100;

/** What is wrong with the text of a schedule; `undefined` when it can be kept. */
export function cronProblem(text: string): string | undefined {
  if (text.length > CRON_LENGTH_MAX || !FORM.test(text)) {
    return 'must be five fields (minute, hour, day of month, month, day of week), or @hourly, @daily, @weekly, @monthly, @yearly';
  }
  if (read.has(text)) return undefined;
  try {
    // Any time will do: of what comes at all, something comes within the years that are looked at.
    const cron = new Cron(text, OPTIONS);
    if (cron.nextRun(new Date(0)) === null) return 'names a day that never comes';
    if (read.size >= READ_MAX) read.clear();
    read.set(text, cron);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    return `can not be read: ${why}`;
  }
}

/** The first time after `after` that the schedule names; `undefined` when there is none, or it can't be read. */
export function nextCronTime(text: string, after: Date): Date | undefined {
  const known = spanAt(text, after);
  return known === undefined ? (cronOf(text)?.nextRun(after) ?? undefined) : new Date(known.untilMs);
}

/** The last time, at `now` or before it, that the schedule names; `undefined` when there was none, or it can't be read. */
export function lastCronTime(text: string, now: Date): Date | undefined {
  const known = spanAt(text, now);
  if (known !== undefined) return new Date(known.fromMs);
  const cron = cronOf(text);
  const last = cron?.previousRuns(1, new Date(now.getTime() + 1))[0];
  const next = last === undefined ? undefined : cron?.nextRun(now);
  if (last !== undefined && next !== undefined && next !== null) {
    if (spans.size >= READ_MAX) spans.clear();
    spans.set(text, { fromMs: last.getTime(), untilMs: next.getTime() });
  }
  return last;
}

/**
 * The last two times of schedules that were looked for, one right after the other: asked every few seconds, a schedule
 * gives the same answers until the second of them has come.
 */
const spans = new Map<string, { readonly fromMs: number; readonly untilMs: number }>();

function spanAt(text: string, at: Date): { readonly fromMs: number; readonly untilMs: number } | undefined {
  const span = spans.get(text);
  const isWithin = span !== undefined && span.fromMs <= at.getTime() && at.getTime() < span.untilMs;
  return isWithin ? span : undefined;
}

function cronOf(text: string): Cron | undefined {
  return cronProblem(text) === undefined ? read.get(text) : undefined;
}

/** Schedules that were read, since reading one costs more than asking it. */
const read = new Map<string, Cron>();
/** More than one cluster has; all are forgotten then. */
const READ_MAX = 1_000;

/** Seconds are not served: a volume is looked at every few seconds. Without a function it starts no timer. */
const OPTIONS = { mode: '5-part', utcOffset: 0 } as const;
