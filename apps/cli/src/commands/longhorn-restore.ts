/** `holdfast longhorn backups|restore|replica`: a Longhorn target or a replica's folder is read into a raw image. Needs no stack, and no Longhorn. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LonghornBackup, LonghornVolume } from '@holdfast/backup/longhorn/backupstore.js';
import type { RawImage } from '@holdfast/backup/store/raw-image.js';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Command } from 'commander';
import { outputOf, print, remark } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import { formatItem, formatList, type OutputOptions } from '../output/format.js';
import { cellText } from '../output/printable.js';
import type { Column } from '../output/table.js';
import {
  TARGET,
  TARGET_HELP,
  type TargetOptions,
  told,
  withTarget,
  withTargetOptions,
} from './backup-target.js';

const CODES =
  '\nExit code 0: done, and read back; 2: it can never be read so; 3: something there is damaged, or is no whole copy; 5: not found.';

export function addRestoreCommands(longhorn: Command): void {
  withTargetOptions(longhorn.command('backups'))
    .argument('<target>', TARGET)
    .option('--volume <name>', 'the backups of this volume; without, the volumes')
    .description('volumes and backups of a Longhorn backup target')
    .addHelpText(
      'after',
      `${TARGET_HELP}\n\nExit code 0: all could be read; 1: some could not, which stderr names; 5: not found.`,
    )
    .action(async (target: string, options: TargetOptions & { volume?: string }, given: Command) => {
      await listBackups(target, options, outputOf(given));
    });
  withTargetOptions(longhorn.command('restore'))
    .argument('<target>', TARGET)
    .argument('<volume>', 'name of the volume')
    .argument('<backup>', 'name of the backup')
    .requiredOption('--to <file>', 'the raw image to make; no file is replaced')
    .description('read a backup of Longhorn into a raw image, each block checked by its sum')
    .addHelpText('after', TARGET_HELP + CODES)
    .action(
      async (
        target: string,
        volume: string,
        backup: string,
        options: TargetOptions & { to: string },
        given: Command,
      ) => {
        const report = await withTarget(target, options, async (store) => {
          const { LonghornBackupstore } = await import('@holdfast/backup/longhorn/backupstore.js');
          return restore(new LonghornBackupstore(store), volume, backup, options.to);
        });
        printRestored(report, outputOf(given));
      },
    );
  longhorn
    .command('replica')
    .argument('<folder>', "a replica's folder, of a detached volume or a copy: <disk>/replicas/<name>")
    .requiredOption('--to <file>', 'the raw image to make; no file is replaced')
    .option('--snapshot <name>', 'read what this snapshot holds, and not the newest data')
    .description("read a replica's folder of Longhorn into a raw image")
    .addHelpText('after', CODES)
    .action(async (folder: string, options: { to: string; snapshot?: string }, given: Command) => {
      printRestored(await told(() => readReplica(folder, options)), outputOf(given));
    });
}

type Restored = {
  readonly schema: 'holdfast.longhorn.restore/1';
  readonly source: string;
  readonly file: string;
  readonly sizeBytes: number;
  readonly writtenBytes: number;
  readonly warnings: readonly string[];
};

function printRestored(report: Restored, output: OutputOptions): void {
  print(
    formatItem(
      report,
      () =>
        [
          `${cellText(report.file)}: ${formatBytes(report.sizeBytes)}, of which ${formatBytes(report.writtenBytes)} hold data; read back and equal`,
          ...report.warnings.map((warning) => `Warning: ${cellText(warning)}`),
        ].join('\n'),
      output,
    ),
  );
}

const VOLUME_COLUMNS: readonly Column<LonghornVolume>[] = [
  { header: 'name', cell: ({ name }) => name },
  { header: 'size', cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
  { header: 'last backup', cell: ({ lastBackupName }) => lastBackupName },
  { header: 'at', cell: ({ lastBackupAt }) => lastBackupAt },
  { header: 'backing image', cell: ({ backingImageName }) => backingImageName, wide: true },
];

const BACKUP_COLUMNS: readonly Column<Omit<LonghornBackup, 'blocks'>>[] = [
  { header: 'name', cell: ({ name }) => name },
  { header: 'snapshot', cell: ({ snapshotName }) => snapshotName },
  { header: 'created', cell: ({ createdAt }) => createdAt },
  { header: 'data', cell: ({ dataBytes }) => formatBytes(dataBytes) },
  { header: 'block', cell: ({ blockBytes }) => formatBytes(blockBytes), wide: true },
  { header: 'compression', cell: ({ compression }) => compression, wide: true },
];

async function listBackups(
  target: string,
  options: TargetOptions & { volume?: string },
  output: OutputOptions,
): Promise<void> {
  await withTarget(target, options, async (store) => {
    const { LonghornBackupstore } = await import('@holdfast/backup/longhorn/backupstore.js');
    const backupstore = new LonghornBackupstore(store);
    if (options.volume === undefined) {
      const { volumes, problems } = await backupstore.volumes();
      print(formatList(volumes, VOLUME_COLUMNS, output));
      tellProblems(problems);
    } else {
      const { backups, problems } = await backupstore.backups(options.volume);
      // A list of blocks may have a million of entries, and says nothing to a reader.
      const shown = backups.map(({ blocks: _, ...backup }) => backup);
      print(formatList(shown, BACKUP_COLUMNS, output));
      tellProblems(problems);
    }
  });
}

function tellProblems(problems: readonly { file: string; message: string }[]): void {
  for (const { file, message } of problems) remark(`holdfast: ${cellText(file)}: ${cellText(message)}`);
  if (problems.length > 0) process.exitCode = EXIT.unexpected;
}

async function restore(
  backupstore: import('@holdfast/backup/longhorn/backupstore.js').LonghornBackupstore,
  volumeName: string,
  backupName: string,
  file: string,
): Promise<Restored> {
  const { lockVolume } = await import('@holdfast/backup/longhorn/backup-lock.js');
  const { restoreLonghornBackup, refuseBackingImage } = await import(
    '@holdfast/backup/longhorn/restore-backup.js'
  );
  const volume = await backupstore.volume(volumeName);
  const backup = await backupstore.backup(volumeName, backupName);
  refuseBackingImage(volume);
  const lock = await lockVolume(backupstore.store, volumeName, {
    sleep: (ms) => sleep(ms),
    randomHex: () => randomBytes(8).toString('hex'),
  });
  try {
    const writtenBytes = await intoImage(file, volume.sizeBytes, (write) =>
      restoreLonghornBackup(backupstore, volume, backup, { write, zero: async () => undefined }),
    );
    return {
      schema: 'holdfast.longhorn.restore/1',
      source: `${backupstore.store.description} ${volumeName} ${backupName}`,
      file,
      sizeBytes: volume.sizeBytes,
      writtenBytes,
      warnings: lock.isHeld
        ? []
        : ['the target may only be read: Longhorn was not kept from deleting the backup meanwhile'],
    };
  } finally {
    await lock.release();
  }
}

async function readReplica(
  folder: string,
  { to, snapshot }: { to: string; snapshot?: string },
): Promise<Restored> {
  const { copyReplica, openReplicaFolder } = await import('@holdfast/backup/longhorn/replica-folder.js');
  const replica = await openReplicaFolder(folder, snapshot === undefined ? {} : { snapshot });
  const writtenBytes = await intoImage(to, replica.sizeBytes, async (write) => {
    await copyReplica(replica, { write, zero: async () => undefined });
  });
  return {
    schema: 'holdfast.longhorn.restore/1',
    source: folder,
    file: to,
    sizeBytes: replica.sizeBytes,
    writtenBytes,
    warnings: [
      ...replica.warnings,
      ...(replica.isEncrypted ? ['the volume is encrypted: the image is what LUKS made of it'] : []),
    ],
  };
}

type Write = (offset: number, bytes: Buffer) => Promise<void>;

/** Reads the source twice: into the image, and to compare the image with it. An image that differs does not stay. */
async function intoImage(
  file: string,
  sizeBytes: number,
  read: (write: Write) => Promise<void>,
): Promise<number> {
  const { RawImage: Image } = await import('@holdfast/backup/store/raw-image.js');
  const image: RawImage = await Image.create(file, sizeBytes);
  try {
    await read((offset, bytes) => image.write(offset, bytes));
    await read(async (offset, bytes) => {
      if (!(await image.holds(offset, bytes)))
        throw new CliError(
          EXIT.unsatisfied,
          `the image differs at byte ${offset}: the source or the disk has changed meanwhile`,
        );
    });
    await image.complete();
    return image.writtenBytes;
  } catch (error) {
    await image.discard();
    throw error;
  }
}
