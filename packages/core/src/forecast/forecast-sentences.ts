/** A forecast in plain sentences. */
import { formatBytes } from '../model/bytes.js';
import type { Forecast } from './forecast.js';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;

/** Empty where nothing happens to any volume. */
export function sentencesOf(forecast: Forecast): string[] {
  const { time, rebuilds, bytesToMove, volumesLost, volumesUnschedulable, volumesWaiting } = forecast;
  const lacking = [
    ...(volumesUnschedulable > 0
      ? [`${counted(volumesUnschedulable, 'volume')} without a place for a copy`]
      : []),
    ...(volumesWaiting > 0
      ? [
          `${counted(volumesWaiting, 'volume')} that ${volumesWaiting === 1 ? 'waits' : 'wait'} for a user or a node`,
        ]
      : []),
  ];
  const isOne = (volumesUnschedulable > 0 ? volumesUnschedulable : volumesWaiting) === 1;
  return [
    ...(time === null
      ? []
      : [
          `${counted(rebuilds, 'copy', 'copies')} of ${formatBytes(bytesToMove)} in all ${rebuilds === 1 ? 'is' : 'are'} built in ${spanText(time)}.`,
        ]),
    ...(volumesLost > 0
      ? [`${counted(volumesLost, 'volume')} ${volumesLost === 1 ? 'has' : 'have'} no full copy left.`]
      : []),
    ...(lacking.length > 0 ? [`In the end there ${isOne ? 'is' : 'are'} ${lacking.join(' and ')}.`] : []),
  ];
}

/** Both ends of a range, in the unit of the longer one. */
export function spanText({ lowSeconds, p90Seconds }: { lowSeconds: number; p90Seconds: number }): string {
  const [unit, seconds] =
    p90Seconds < 2 * MINUTE_SECONDS
      ? ['s', 1]
      : p90Seconds < 2 * HOUR_SECONDS
        ? ['min', MINUTE_SECONDS]
        : ['h', HOUR_SECONDS];
  const low = Math.floor(lowSeconds / seconds);
  const high = Math.ceil(p90Seconds / seconds);
  return low === high ? `${high} ${unit}` : `${low} to ${high} ${unit}`;
}

function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
