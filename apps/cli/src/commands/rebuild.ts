import { setTimeout as sleep } from 'node:timers/promises';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Command } from 'commander';
import { bodyOf } from '../api.js';
import { Context, print, remark } from '../context.js';
import { formatItem, formatList } from '../output/format.js';
import { age, parseSize } from '../output/quantities.js';
import { rebuildLook } from '../output/states.js';
import type { Column } from '../output/table.js';
import type { Rebuild, Volume } from '../types.js';
import { waitingLines } from './volume-text.js';

const WATCH_POLL_MS = 500;
/** Time in which a first rebuild may still come: a node that has just come back needs a moment until it is queued. */
const FIRST_REBUILD_WAIT_MS = 10_000;

const REBUILD = '/clusters/{clusterId}/rebuilds/{rebuildId}';

async function at(context: Context, rebuildId: string) {
  return { params: { path: { clusterId: await context.clusterId(), rebuildId } } };
}

type Names = {
  volume: (id: string) => string;
  node: (id: string) => string;
  volumes: readonly Volume[];
};

async function lookup(context: Context): Promise<Names> {
  const [nodes, volumes] = await Promise.all([context.nodes(), context.volumes()]);
  const nodeNames = new Map(nodes.map(({ id, name }) => [id, name]));
  const volumeNames = new Map(volumes.map(({ id, name }) => [id, name]));
  return { volume: (id) => volumeNames.get(id) ?? id, node: (id) => nodeNames.get(id) ?? id, volumes };
}

function columns(names: Names, now: Date): Column<Rebuild>[] {
  return [
    { header: 'volume', cell: (rebuild) => names.volume(rebuild.volumeId) },
    { header: 'to', cell: (rebuild) => names.node(rebuild.targetNodeId) },
    {
      header: 'state',
      cell: (rebuild) => rebuildLook(rebuild.state).text,
      tone: (rebuild) => rebuildLook(rebuild.state).tone,
    },
    { header: 'phase', cell: (rebuild) => rebuild.phase },
    { header: 'done', cell: (rebuild) => `${rebuild.percent.toFixed(1)}%`, align: 'right' },
    { header: 'sent', cell: (rebuild) => formatBytes(rebuild.bytes.sent), align: 'right' },
    {
      header: 'rate',
      cell: (rebuild) => (rebuild.state === 'running' ? `${formatBytes(rebuild.rateBytesPerSecond)}/s` : '-'),
      align: 'right',
    },
    { header: 'left', cell: (rebuild) => leftText(rebuild, now), align: 'right' },
    {
      header: 'ended',
      cell: (rebuild) => (rebuild.finishedAt === null ? '-' : `${age(rebuild.finishedAt, now)} ago`),
      align: 'right',
    },
    { header: 'note', cell: noteOf },
    { header: 'id', cell: (rebuild) => rebuild.id, wide: true },
  ];
}

export function rebuildCommand(): Command {
  const rebuild = new Command('rebuild');
  rebuild
    .command('list')
    .option('--active', 'only running and waiting ones')
    .description('running, waiting and ended rebuilds')
    .action(async (options: { active?: boolean }, command: Command) => {
      const context = new Context(command);
      const all = await context.rebuilds();
      const shown = options.active === true ? all.filter(isActive) : all;
      const names = await lookup(context);
      print(formatList(shown, columns(names, context.now), context.output));
      // On stderr: scripts get the list on stdout, and can read the same from the volumes' conditions.
      for (const line of waitingLines(names.volumes)) remark(line);
    });
  rebuild
    .command('watch')
    .option('--follow', 'go on when nothing is left to rebuild')
    .description('progress, a line for each change, until nothing is left to rebuild')
    .action(async (options: { follow?: boolean }, command: Command) => {
      await watch(new Context(command), options.follow === true);
    });
  rebuild
    .command('get')
    .argument('<rebuild>', 'id')
    .description('one rebuild, and how each snapshot got to the target, with the reason')
    .action(async (id: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await bodyOf(context.api.GET(REBUILD, await at(context, id)));
      const names = await lookup(context);
      print(formatItem(found, () => describeRebuild(found, names, context), context.output));
    });
  addAction(rebuild, 'pause', 'hold one up; user writes still reach its target');
  addAction(rebuild, 'resume', 'let a paused one go on');
  addAction(rebuild, 'cancel', 'stop one; the volume stays degraded until another is tried');
  rebuild
    .command('limit')
    .argument('<rebuild>', 'id')
    .argument('<rate>', 'bytes a second, such as 50Mi, or none')
    .description('how fast one may copy')
    .action(async (id: string, rate: string, _options: object, command: Command) => {
      const context = new Context(command);
      const bandwidthBytesPerSecond = rate === 'none' ? null : parseSize(rate);
      const tuned = await bodyOf(
        context.api.PATCH(REBUILD, { ...(await at(context, id)), body: { bandwidthBytesPerSecond } }),
      );
      print(formatItem(tuned, () => `${tuned.id}: ${rate}`, context.output));
    });
  return rebuild;
}

function addAction(rebuild: Command, action: 'pause' | 'resume' | 'cancel', description: string): void {
  rebuild
    .command(action)
    .argument('<rebuild>', 'id')
    .description(description)
    .action(async (id: string, _options: object, command: Command) => {
      const context = new Context(command);
      const address = { ...(await at(context, id)), body: {} };
      const changed = await bodyOf(context.api.POST(`${REBUILD}/${action}`, address));
      const text = () => `${changed.id}: ${changed.paused ? 'paused' : changed.state}`;
      print(formatItem(changed, text, context.output));
    });
}

/** Estimated time left: at even odds, and at nine in ten. */
function leftText({ eta }: Rebuild, now: Date): string {
  if (eta === null) return '-';
  const [even, sure] = [eta.p50, eta.p90].map((at) => age(now.toISOString(), new Date(at)));
  return even === sure ? `${even}` : `${even} to ${sure}`;
}

/** Note on a rebuild: its error, or why it waits. For a paused one that runs, the API names the pause as the reason. */
function noteOf({ error, waitingFor, queuePosition }: Rebuild): string {
  if (error !== null) return error.message;
  return queuePosition === null ? waitingFor : `place ${queuePosition}: ${waitingFor}`;
}

const SNAPSHOTS: Column<Rebuild['snapshots'][number]>[] = [
  { header: 'snapshot', cell: ({ name }) => name },
  { header: 'method', cell: ({ method }) => method },
  { header: 'sent', cell: ({ bytesSent }) => formatBytes(bytesSent), align: 'right' },
  { header: 'why', cell: ({ reason }) => reason },
];

function describeRebuild(rebuild: Rebuild, names: Names, context: Context): string {
  const list = formatList([rebuild], columns(names, context.now), context.output);
  const waits =
    rebuild.waitingReason === null ? [] : ['', `waits: ${rebuild.waitingFor} (${rebuild.waitingReason})`];
  return [list, ...waits, ...snapshotLines(rebuild, context)].join('\n');
}

function snapshotLines({ snapshots }: Rebuild, context: Context): string[] {
  return snapshots.length === 0 ? [] : ['', formatList(snapshots, SNAPSHOTS, context.output)];
}

async function watch(context: Context, follow: boolean): Promise<void> {
  const startedAt = Date.now();
  const shown = new Map<string, string>();
  const watched = new Set<string>();
  let names = await lookup(context);
  for (;;) {
    const rebuilds = await context.rebuilds();
    const active = rebuilds.filter(isActive);
    if (active.some((rebuild) => !watched.has(rebuild.id))) names = await lookup(context);
    for (const rebuild of active) watched.add(rebuild.id);
    for (const rebuild of rebuilds.filter(({ id }) => watched.has(id)))
      report(context, rebuild, names, shown);
    if (!follow && active.length === 0 && (watched.size > 0 || (await nothingToCome(context, startedAt))))
      return;
    await sleep(WATCH_POLL_MS);
  }
}

/** True when no rebuild is to be expected: every volume is healthy, or none was queued within a moment. */
async function nothingToCome(context: Context, startedAt: number): Promise<boolean> {
  const volumes = await context.volumes();
  const degraded = volumes.some((volume) => volume.robustness === 'degraded');
  if (degraded && Date.now() - startedAt < FIRST_REBUILD_WAIT_MS) return false;
  remark('nothing is being rebuilt');
  for (const line of waitingLines(volumes)) remark(line);
  return true;
}

function report(context: Context, rebuild: Rebuild, names: Names, shown: Map<string, string>): void {
  const json = context.output.output === 'json' || context.output.output === 'jsonl';
  const line = json ? JSON.stringify(rebuild) : progressLine(rebuild, names);
  if (shown.get(rebuild.id) === line) return;
  shown.set(rebuild.id, line);
  print(line);
  if (!json && !isActive(rebuild)) print([...snapshotLines(rebuild, context), ''].join('\n'));
}

function progressLine(rebuild: Rebuild, names: Names): string {
  const head = `${names.volume(rebuild.volumeId)} → ${names.node(rebuild.targetNodeId)}`;
  const state = rebuildLook(rebuild.state).text;
  if (rebuild.state === 'queued') return `${head}  ${state}  ${noteOf(rebuild)}`.trimEnd();
  const percent = `${rebuild.percent.toFixed(1)}%`.padStart(6);
  const { sent, verified, total } = rebuild.bytes;
  const isVerifying = rebuild.state === 'running' && rebuild.phase === 'verifying';
  const bytes = `${formatBytes(isVerifying ? verified : sent)} of ${formatBytes(total)} ${isVerifying ? 'verified' : 'sent'}`;
  if (rebuild.paused && rebuild.state === 'running') return `${head}  ${state}  ${percent}  paused`;
  if (rebuild.state !== 'running') return `${head}  ${state}  ${percent}  ${rebuild.error?.message ?? bytes}`;
  return `${head}  ${state}  ${percent}  ${rebuild.phase}  ${bytes}, ${formatBytes(rebuild.rateBytesPerSecond)}/s`;
}

function isActive(rebuild: Rebuild): boolean {
  return rebuild.state === 'running' || rebuild.state === 'queued';
}
