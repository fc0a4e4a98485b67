/** `holdfast backup-repository`: a repository of volume backups, read at its target. Needs no stack: the control plane may be gone. */
import { readFileSync } from 'node:fs';
import type { BackupSummary } from '@holdfast/backup/model/format.js';
import type { Repository } from '@holdfast/backup/repository/repository.js';
import type { RepositoryStats } from '@holdfast/backup/repository/stats.js';
import type { VerifyReport } from '@holdfast/backup/repository/verify.js';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Command } from 'commander';
import { outputOf, print } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList } from '../output/format.js';
import { cellText } from '../output/printable.js';
import type { Column } from '../output/table.js';
import { TARGET, TARGET_HELP, type TargetOptions, withTarget, withTargetOptions } from './backup-target.js';
import { plural } from './explanation-text.js';

const HELP = `${TARGET_HELP}\nThe passphrase is read from --passphrase-file, or from HOLDFAST_BACKUP_PASSPHRASE.`;

type Options = TargetOptions & { readonly passphraseFile?: string };

export function backupRepositoryCommand(): Command {
  const command = new Command('backup-repository');
  verb(command, 'list')
    .description('backups of a repository, the newest first')
    .action(async (target: string, options: Options, given: Command) => {
      const { listBackups } = await import('@holdfast/backup/repository/stats.js');
      const backups = await withRepository(target, options, {}, async (repository) =>
        listBackups(repository),
      );
      print(formatList(backups, COLUMNS, outputOf(given)));
    });
  verb(command, 'stats')
    .description('what a repository holds, and what that takes')
    .action(async (target: string, options: Options, given: Command) => {
      const { stats } = await import('@holdfast/backup/repository/stats.js');
      const found = await withRepository(target, options, {}, stats);
      print(formatItem(found, () => statsText(found), outputOf(given)));
    });
  verb(command, 'verify')
    .description('read a repository back: that each backup is whole, and each block is what its name says')
    .option('--sample <percent>', 'read so many of a hundred packs, chosen by chance; without, all')
    .addHelpText(
      'after',
      '\nExit code 0: whole; 3: something is damaged; 4: the passphrase is wrong; 5: there is no repository.',
    )
    .action(async (target: string, options: Options & { sample?: string }, given: Command) => {
      const share = options.sample === undefined ? 1 : percent(options.sample);
      const { verify } = await import('@holdfast/backup/repository/verify.js');
      const tolerant = { toleratesDamage: true };
      const report = await withRepository(target, options, tolerant, (repository) =>
        verify(repository, { share }),
      );
      print(formatItem(report, () => verifyText(report), outputOf(given)));
      if (report.damagedBlobs.length + report.damagedBackups.length > 0) process.exitCode = EXIT.unsatisfied;
    });
  return command;
}

function verb(command: Command, name: string): Command {
  return withTargetOptions(command.command(name))
    .argument('<target>', TARGET)
    .option('--passphrase-file <file>', 'the first line of this file is the passphrase')
    .addHelpText('after', HELP);
}

async function withRepository<Value>(
  target: string,
  options: Options,
  more: { readonly toleratesDamage?: boolean },
  work: (repository: Repository) => Promise<Value>,
): Promise<Value> {
  const passphrase = passphraseOf(options);
  const { Repository: Opened } = await import('@holdfast/backup/repository/repository.js');
  const { ThreadedCoder } = await import('@holdfast/backup/threads/threaded-coder.js');
  return withTarget(target, options, async (store) => {
    const coder = new ThreadedCoder();
    try {
      const unlock = { kind: 'passphrase', passphrase } as const;
      return await work(await Opened.open({ store, unlock, now: () => new Date(), coder, ...more }));
    } finally {
      await coder.close();
    }
  });
}

/** Never an argument: every user of the machine can read those. */
function passphraseOf({ passphraseFile }: Options): string {
  const { HOLDFAST_BACKUP_PASSPHRASE: ofEnvironment = '' } = process.env;
  const passphrase =
    passphraseFile === undefined
      ? ofEnvironment
      : (lineOf(passphraseFile).split('\n')[0] ?? '').replace(/\r$/, '');
  if (passphrase === '')
    throw new CliError(EXIT.usage, 'a passphrase is needed', [
      'give --passphrase-file, or HOLDFAST_BACKUP_PASSPHRASE',
    ]);
  return passphrase;
}

function lineOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliError(EXIT.usage, error instanceof Error ? error.message : `${file} can't be read`);
  }
}

function percent(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 100))
    throw new CliError(EXIT.usage, '--sample takes a number above 0 and up to 100');
  return value / 100;
}

const COLUMNS: readonly Column<BackupSummary>[] = [
  { header: 'id', cell: ({ id }) => id },
  { header: 'volume', cell: ({ volumeName }) => volumeName },
  { header: 'snapshot', cell: ({ snapshotName }) => snapshotName },
  { header: 'created', cell: ({ createdAt }) => createdAt },
  { header: 'size', cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
  { header: 'added', cell: ({ addedBytes }) => formatBytes(addedBytes) },
  { header: 'locked until', cell: ({ lockedUntil }) => lockedUntil ?? '', wide: true },
];

function statsText(found: RepositoryStats): string {
  return [
    `repository ${found.repositoryId} of project ${cellText(found.projectId)}, format ${found.version}, made ${found.createdAt}`,
    `${plural(found.backups, 'backup')} of ${plural(found.volumes, 'volume')}, ${formatBytes(found.volumeBytes)} in all`,
    `${plural(found.blobs, 'blob')} in ${plural(found.packs, 'pack')}: ${formatBytes(found.rawBytes)}, stored as ${formatBytes(found.storedBytes)}`,
    `${plural(found.condemnedPacks, 'pack')} condemned, ${plural(found.deadObjects, 'object')} to be deleted`,
  ].join('\n');
}

function verifyText(report: VerifyReport): string {
  const read = `${report.packsRead} of ${plural(report.packs, 'pack')} read, ${formatBytes(report.bytesRead)}`;
  const damaged = report.damagedBackups.map(
    ({ backupId, reason }) => `damaged: backup ${cellText(backupId)}: ${cellText(reason)}`,
  );
  const whole = report.damagedBlobs.length + damaged.length === 0;
  return [
    `${plural(report.backups, 'backup')}; ${read}: ${whole ? 'whole' : `${plural(report.damagedBlobs.length, 'blob')} damaged`}`,
    ...damaged,
  ].join('\n');
}
