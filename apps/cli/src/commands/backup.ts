/** Backup and restore of the control plane's database. These connect to Postgres itself: the API may be gone. */
import { BackupError } from '@holdfast/database/backup/backup-error.js';
import type { ReadBackup } from '@holdfast/database/backup/read-backup.js';
import { Command } from 'commander';
import { localHome } from '../connection.js';
import { print, remark } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, type OutputOptions, parseFormat } from '../output/format.js';

export function backupCommand(): Command {
  const backup = new Command('backup');
  backup
    .command('create')
    .argument('<file>', 'where the backup is written; no file is replaced')
    .description('write all tables, as of one moment, into a file; the control plane may run meanwhile')
    .addHelpText('after', WHICH)
    .action(async (file: string, _options: object, command: Command) => {
      const { createBackup } = await import('@holdfast/database/backup/create-backup.js');
      const made = await told(() => withDatabase((url) => createBackup(url, file)));
      print(formatItem(summary(file, made), () => text(file, made), outputOf(command)));
    });
  backup
    .command('verify')
    .argument('<file>', 'a backup')
    .description(
      'read a backup to its end and compare each table with its checksum; exit code 3 when it is damaged',
    )
    .action(async (file: string, _options: object, command: Command) => {
      const { verifyBackup } = await import('@holdfast/database/backup/read-backup.js');
      const read = await told(() => verifyBackup(file));
      print(formatItem(summary(file, read), () => text(file, read), outputOf(command)));
    });
  backup
    .command('restore')
    .argument('<file>', 'a backup')
    .description('load a backup into an empty database; nothing of the control plane may run on it')
    .addHelpText('after', WHICH)
    .action(async (file: string, _options: object, command: Command) => {
      const { restoreBackup } = await import('@holdfast/database/backup/restore-backup.js');
      const restored = await told(() => withDatabase((url) => restoreBackup(url, file, new Date())));
      print(formatItem(summary(file, restored), () => text(file, restored), outputOf(command)));
      remark('the next steps are in docs/OPERATIONS.md, "Backup and restore"');
    });
  return backup;
}

const WHICH =
  '\nThe database is that of DATABASE_URL, as its owner; without it that of the local stack (HOLDFAST_HOME).';

/** A password on the command line could be read by every user of the machine, so the address comes by the environment. */
async function withDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const { DATABASE_URL: url } = process.env;
  if (url !== undefined && url !== '') {
    const { reached } = await import('@holdfast/database/backup/reached.js');
    return work(await reached(url));
  }
  const { withLocalDatabase } = await import('@holdfast/database/backup/local-database.js');
  return withLocalDatabase(localHome(process.env), work);
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BackupError) throw new CliError(EXIT.unsatisfied, error.message);
    throw error;
  }
}

function summary(file: string, { header, manifest }: ReadBackup) {
  return {
    file,
    takenAt: header.takenAt,
    schema: header.migrations.at(-1)?.name ?? '',
    rows: manifest.tables.reduce((sum, { rows }) => sum + rows, 0),
    tables: manifest.tables,
  };
}

function text(file: string, read: ReadBackup): string {
  const { takenAt, schema, rows, tables } = summary(file, read);
  return [
    `backup     ${file}`,
    `taken at   ${takenAt}`,
    `schema     ${schema}`,
    `rows       ${rows} in ${tables.length} tables`,
  ].join('\n');
}

function outputOf(command: Command): OutputOptions {
  const { output } = command.optsWithGlobals<{ output: string }>();
  return { output: parseFormat(output), headers: true, color: false };
}
