import { Command } from 'commander';
import { bodyOf, VOLUME } from '../api.js';
import { Context, print, remark } from '../context.js';
import { formatItem, formatList } from '../output/format.js';
import { age, parseCount } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { RecurringSnapshot } from '../types.js';

/** `snapshot schedule …`: a volume's recurring snapshots. */
export function scheduleCommand(): Command {
  const schedule = new Command('schedule').description('snapshots that are taken again and again');
  addSet(schedule);
  addList(schedule);
  addDelete(schedule);
  return schedule;
}

const SCHEDULES = `${VOLUME}/recurring-snapshots` as const;
const SCHEDULE = `${SCHEDULES}/{recurringName}` as const;

function columns(now: Date): Column<RecurringSnapshot>[] {
  return [
    { header: 'name', cell: ({ name }) => name },
    { header: 'when (utc)', cell: ({ cron }) => cron },
    { header: 'keeps', cell: ({ retain }) => String(retain), align: 'right' },
    { header: 'next', cell: ({ nextRunAt }) => minute(nextRunAt) },
    {
      header: 'last',
      cell: (one) => lastRun(one, now),
      tone: ({ lastRun: run }) => (run?.outcome === 'skipped' ? 'warn' : 'plain'),
    },
  ];
}

function lastRun({ lastRun: run }: RecurringSnapshot, now: Date): string {
  if (run === null) return '-';
  const ago = `${age(run.at, now)} ago`;
  return run.outcome === 'skipped' ? `▲ skipped ${ago}: ${run.message}` : `${run.snapshotName}, ${ago}`;
}

function minute(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')}Z`;
}

function addSet(schedule: Command): void {
  schedule
    .command('set')
    .argument('<volume>', 'name or id')
    .argument('<name>', 'of the schedule, unique in the volume; its snapshots are named after it')
    .requiredOption('--cron <cron>', 'when, in UTC: "0 3 * * *", or @hourly, @daily, @weekly, @monthly')
    .requiredOption('--retain <n>', 'how many of its snapshots to keep')
    .description('have snapshots taken while the volume is attached, and the oldest deleted')
    .action(
      async (volume: string, name: string, options: { cron: string; retain: string }, command: Command) => {
        const context = new Context(command);
        const path = { ...(await context.volumeKey(volume)), recurringName: name };
        const body = { cron: options.cron, retain: parseCount(options.retain) };
        const set = await bodyOf(context.api.PUT(SCHEDULE, { params: { path }, body }));
        print(formatItem(set, () => `${set.name}: next at ${minute(set.nextRunAt)}`, context.output));
      },
    );
}

function addList(schedule: Command): void {
  schedule
    .command('list')
    .argument('<volume>', 'name or id')
    .description("a volume's schedules, with the next due time and the last result of each")
    .action(async (volume: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = await context.volumeKey(volume);
      const { items } = await bodyOf(context.api.GET(SCHEDULES, { params: { path } }));
      print(formatList(items, columns(context.now), context.output));
    });
}

function addDelete(schedule: Command): void {
  schedule
    .command('delete')
    .argument('<volume>', 'name or id')
    .argument('<names...>', 'of schedules')
    .description('end schedules; the snapshots that they took stay')
    .action(async (volume: string, names: string[], _options: object, command: Command) => {
      const context = new Context(command);
      const key = await context.volumeKey(volume);
      for (const name of names) {
        const path = { ...key, recurringName: name };
        await bodyOf(context.api.DELETE(SCHEDULE, { params: { path } }));
        remark(`${name} ended`);
      }
    });
}
