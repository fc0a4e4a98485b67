const DAY_SECONDS = 86_400;

/**
 * Times below a chart: hours and minutes of 24 hours, with the day below the first one and where a new day begins; days alone where the
 * times are at least a day apart.
 *
 * @param splits seconds since 1970, in rising order
 * @param timeZone left out: the browser's
 */
export function axisTimes(splits: readonly number[], timeZone?: string): string[] {
  const [first = 0, second = first] = splits;
  const zone = timeZone === undefined ? {} : { timeZone };
  const day = new Intl.DateTimeFormat(undefined, { ...zone, month: 'short', day: 'numeric' });
  const time = new Intl.DateTimeFormat(undefined, {
    ...zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  let dayBefore: string | undefined;
  return splits.map((seconds) => {
    const at = new Date(seconds * 1_000);
    const dayText = day.format(at);
    const isNewDay = dayText !== dayBefore;
    dayBefore = dayText;
    if (second - first >= DAY_SECONDS) return dayText;
    return isNewDay ? `${time.format(at)}\n${dayText}` : time.format(at);
  });
}

/** Below this, steps of the axis are shorter than the minutes in which its times are shown. */
const SPAN_SECONDS_MIN = 3_600;

/**
 * From which time to which a chart goes: an hour at least, up to the last sample, however few there are.
 *
 * @param times of the samples, in rising order
 */
export function axisSpan(times: readonly number[]): [number, number] {
  const last = times.at(-1) ?? 0;
  return [Math.min(times[0] ?? last, last - SPAN_SECONDS_MIN), last];
}

/** Words beside an axis. One that says the same as the one before it, as both are rounded, is left out. */
export function axisWords(splits: readonly number[], format: (value: number) => string): string[] {
  const words = splits.map(format);
  return words.map((word, index) => (word === words[index - 1] ? '' : word));
}
