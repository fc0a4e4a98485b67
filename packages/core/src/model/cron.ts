/**
 * Schedules in the form of cron: five fields (minute, hour, day of month, month, day of week) or a name such as
 * `@daily`, always in UTC. A day that either of the two day fields names counts, as in every cron.
 */
import { Cron } from 'croner';

const FORM = /^(@(hourly|daily|weekly|monthly|yearly)|\S+( +\S+){4})$/;
/** Longer ones are lists that several schedules say better. */
const CRON_LENGTH_MAX = 100;

/** Error in the text of a schedule; `undefined` when it is valid. */
export function cronProblem(text: string): string | undefined {
  if (text.length > CRON_LENGTH_MAX || !FORM.test(text)) {
    return 'must be five fields (minute, hour, day of month, month, day of week), or @hourly, @daily, @weekly, @monthly, @yearly';
  }
  if (read.has(text)) return undefined;
  try {
    // Any time will do: a schedule that is ever due is due within the searched years.
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
  if (cron === undefined) return undefined;
  const span = spanAfter(cron, spans.get(text), now) ?? spanAround(cron, now);
  if (span === undefined) return cron.previousRuns(1, new Date(now.getTime() + 1))[0];
  if (spans.size >= READ_MAX) spans.clear();
  spans.set(text, span);
  return new Date(span.fromMs);
}

/**
 * The last two times of schedules that were looked for, one right after the other: asked every few seconds, a schedule
 * gives the same answers until the second of them has come.
 */
const spans = new Map<string, Span>();

type Span = { readonly fromMs: number; readonly untilMs: number };

function spanAt(text: string, at: Date): Span | undefined {
  const span = spans.get(text);
  return span !== undefined && isWithin(span, at) ? span : undefined;
}

/** The due time after the known span, if the time is in it: searching backwards costs more than forwards. */
function spanAfter(cron: Cron, known: Span | undefined, at: Date): Span | undefined {
  if (known === undefined || known.untilMs > at.getTime()) return undefined;
  const next = cron.nextRun(new Date(known.untilMs));
  if (next === null) return undefined;
  const span = { fromMs: known.untilMs, untilMs: next.getTime() };
  return isWithin(span, at) ? span : undefined;
}

function spanAround(cron: Cron, at: Date): Span | undefined {
  const last = cron.previousRuns(1, new Date(at.getTime() + 1))[0];
  const next = cron.nextRun(at);
  return last === undefined || next === null
    ? undefined
    : { fromMs: last.getTime(), untilMs: next.getTime() };
}

function isWithin({ fromMs, untilMs }: Span, at: Date): boolean {
  return fromMs <= at.getTime() && at.getTime() < untilMs;
}

function cronOf(text: string): Cron | undefined {
  return cronProblem(text) === undefined ? read.get(text) : undefined;
}

/** Schedules that were read, since reading one costs more than asking it. */
const read = new Map<string, Cron>();
/** More than one cluster has; all are forgotten then. */
const READ_MAX = 1_000;

/** Seconds are not supported: a volume is reconciled every few seconds. Without a function it starts no timer. */
const OPTIONS = { mode: '5-part', utcOffset: 0 } as const;
