import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Command } from 'commander';
import { bodyOf, VOLUME } from '../api.js';
import { Context, print, remark } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { age } from '../output/quantities.js';
import { snapshotLook } from '../output/states.js';
import type { Column } from '../output/table.js';
import type { Snapshot } from '../types.js';
import { waitFor } from '../wait.js';
import { find, SNAPSHOT, snapshotsOf } from './find-snapshot.js';
import { scheduleCommand } from './snapshot-schedule.js';
import { waitForTask } from './volume-task.js';

function columns(snapshots: readonly Snapshot[], now: Date): Column<Snapshot>[] {
  const nameOf = (id: string | null) => snapshots.find((snapshot) => snapshot.id === id)?.name ?? '-';
  return [
    { header: 'name', cell: ({ name, isHeadParent }) => (isHeadParent ? `${name} ← head` : name) },
    {
      header: 'state',
      cell: (snapshot) => snapshotLook(snapshot).text,
      tone: (snapshot) => snapshotLook(snapshot).tone,
    },
    { header: 'made by', cell: ({ origin }) => origin },
    { header: 'stands on', cell: ({ parentId }) => nameOf(parentId) },
    { header: 'size', cell: ({ size }) => formatBytes(size), align: 'right' },
    { header: 'checksum', cell: ({ checksum }) => checksum?.slice(0, 12) ?? '-' },
    { header: 'age', cell: ({ createdAt }) => age(createdAt, now), align: 'right' },
    { header: 'note', cell: ({ error }) => error ?? '' },
    { header: 'id', cell: ({ id }) => id, wide: true },
  ];
}

export function snapshotCommand(): Command {
  const snapshot = new Command('snapshot');
  addList(snapshot);
  addCreate(snapshot);
  addGet(snapshot);
  addDelete(snapshot);
  addHash(snapshot);
  addPurge(snapshot);
  snapshot.addCommand(scheduleCommand());
  return snapshot;
}

function addList(snapshot: Command): void {
  snapshot
    .command('list')
    .argument('<volume>', 'name or id')
    .description("a volume's snapshots, oldest first, and the parent of the head")
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const all = await snapshotsOf(context, await context.volumeKey(name));
      print(formatList(all, columns(all, context.now), context.output));
    });
}

function addCreate(snapshot: Command): void {
  snapshot
    .command('create')
    .argument('<volume>', 'name or id')
    .argument('[name]', 'unique in the volume (default: the time)')
    .option('--no-wait', 'return before it is taken')
    .description('freeze the present content of an attached volume')
    .action(
      async (volume: string, name: string | undefined, options: { wait: boolean }, command: Command) => {
        const context = new Context(command);
        const key = await context.volumeKey(volume);
        const body = name === undefined ? {} : { name };
        let taken = await bodyOf(context.api.POST(`${VOLUME}/snapshots`, { params: { path: key }, body }));
        const path = { ...key, snapshotId: taken.id };
        const read = () => bodyOf(context.api.GET(SNAPSHOT, { params: { path } }));
        if (options.wait) {
          taken = await waitFor(
            read,
            ({ state }) => state !== 'creating',
            context.timeoutMs,
            'taking the snapshot',
          );
        }
        if (taken.state === 'failed') throw new CliError(EXIT.conflict, taken.error ?? 'it can not be taken');
        print(formatItem(taken, () => `${taken.name}: ${taken.state}`, context.output));
      },
    );
}

function addGet(snapshot: Command): void {
  snapshot
    .command('get')
    .argument('<volume>', 'name or id')
    .argument('<snapshot>', 'name or id')
    .description('one snapshot')
    .action(async (volume: string, name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const { found, all } = await find(context, volume, name);
      const text = () => formatList([found], columns(all, context.now), context.output);
      print(formatItem(found, text, context.output));
    });
}

function addDelete(snapshot: Command): void {
  snapshot
    .command('delete')
    .argument('<volume>', 'name or id')
    .argument('<snapshots...>', 'names or ids')
    .description('delete snapshots; the worker purges them once the volume has all its copies')
    .action(async (volume: string, names: string[], _options: object, command: Command) => {
      const context = new Context(command);
      await context.each(names, async (name) => {
        const { found, path } = await find(context, volume, name);
        await context.confirm(`This deletes snapshot ${found.name} for good`);
        await bodyOf(context.api.DELETE(SNAPSHOT, { params: { path } }));
        remark(`${found.name} deleted`);
      });
    });
}

function addHash(snapshot: Command): void {
  snapshot
    .command('hash')
    .argument('<volume>', 'name or id')
    .argument('<snapshot>', 'name or id')
    .option('--force', 'also where nothing has changed since it was last hashed')
    .option('--no-wait', 'return before it is hashed')
    .description('hash it on every copy; a copy that is damaged is dropped and rebuilt')
    .action(
      async (volume: string, name: string, options: { force?: boolean; wait: boolean }, command: Command) => {
        const context = new Context(command);
        const { path } = await find(context, volume, name);
        const body = { force: options.force === true };
        let hashed = await bodyOf(context.api.POST(`${SNAPSHOT}/hash`, { params: { path }, body }));
        const read = () => bodyOf(context.api.GET(SNAPSHOT, { params: { path } }));
        if (options.wait)
          hashed = await waitFor(read, ({ isHashing }) => !isHashing, context.timeoutMs, 'hashing');
        if (hashed.error !== null) throw new CliError(EXIT.unsatisfied, hashed.error);
        print(formatItem(hashed, () => `${hashed.name}: ${hashed.checksum ?? '-'}`, context.output));
      },
    );
}

function addPurge(snapshot: Command): void {
  snapshot
    .command('purge')
    .argument('<volume>', 'name or id')
    .option('--no-wait', 'return before it has ended')
    .description('remove deleted snapshots and layers left by rebuilds')
    .action(async (name: string, options: { wait: boolean }, command: Command) => {
      const context = new Context(command);
      const path = await context.volumeKey(name);
      let volume = await bodyOf(
        context.api.POST(`${VOLUME}/snapshots/purge`, { params: { path }, body: {} }),
      );
      if (options.wait) volume = await waitForTask(context, path, 'purging');
      print(formatItem(volume, () => `${volume.name}: purged`, context.output));
    });
}
