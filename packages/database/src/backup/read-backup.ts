/** Reads a backup file from its begin to its end, and holds each table to the manifest. */
import fs from 'node:fs';
import zlib from 'node:zlib';
import type { z } from 'zod';
import { BackupError } from './backup-error.js';
import {
  type BackupHeader,
  type BackupManifest,
  type BackupTable,
  FORMAT,
  headerSchema,
  manifestSchema,
  type TableSum,
  tableSchema,
} from './contents.js';
import { type Frame, readFrames } from './frames.js';
import { RunningSum } from './table-sum.js';

export type BackupReader = {
  /** Called once, ahead of all tables. An error ends the reading. */
  begin(header: BackupHeader): Promise<void>;
  /** Takes one table's rows in Postgres' text form, to the end. */
  table(table: BackupTable, rows: AsyncIterable<Buffer>): Promise<void>;
};

export type ReadBackup = { header: BackupHeader; manifest: BackupManifest };

/** Reads it and does nothing with it. @throws BackupError when the file is damaged, cut short, or none of Holdfast's */
export function verifyBackup(file: string): Promise<ReadBackup> {
  return readBackup(file, { begin: async () => undefined, table: (_table, rows) => drain(rows) });
}

/** @throws BackupError as `verifyBackup`; what the reader was given may not be used then */
export async function readBackup(file: string, reader: BackupReader): Promise<ReadBackup> {
  const frames = new FrameQueue(readFrames(decompressed(file)));
  const header = parse(headerSchema, await frames.take('H'));
  if (header.format !== FORMAT) {
    throw new BackupError(
      `the file has form ${header.format}, of a newer Holdfast; this one reads ${FORMAT}`,
    );
  }
  await reader.begin(header);
  const found: TableSum[] = [];
  while ((await frames.peek())?.kind === 'T') {
    const table = parse(tableSchema, await frames.take('T'));
    const sum = new RunningSum(table.name);
    await reader.table(table, rowsOf(frames, sum));
    found.push(sum.total());
  }
  const manifest = parse(manifestSchema, await frames.take('E'));
  if ((await frames.peek()) !== undefined) throw new BackupError('something follows the end of the backup');
  requireSame(found, manifest.tables);
  return { header, manifest };
}

async function* rowsOf(frames: FrameQueue, sum: RunningSum): AsyncGenerator<Buffer> {
  while ((await frames.peek())?.kind === 'D') {
    const { payload } = await frames.take('D');
    sum.add(payload);
    yield payload;
  }
}

function requireSame(found: readonly TableSum[], wanted: readonly TableSum[]): void {
  const isSame = found.length === wanted.length;
  const other = found.find((table, index) => {
    const want = wanted[index];
    return want?.name !== table.name || want.rows !== table.rows || want.sha256 !== table.sha256;
  });
  if (other !== undefined) throw new BackupError(`table ${other.name} is not as it was backed up`);
  if (!isSame) throw new BackupError('a table is missing in the file');
}

/** Frames with a preview of the next one. */
class FrameQueue {
  private next: Frame | undefined;

  constructor(private readonly frames: AsyncGenerator<Frame>) {}

  async peek(): Promise<Frame | undefined> {
    if (this.next === undefined) {
      const { done, value } = await this.frames.next();
      this.next = done === true ? undefined : value;
    }
    return this.next;
  }

  async take(kind: Frame['kind']): Promise<Frame> {
    const next = await this.peek();
    if (next?.kind !== kind) throw new BackupError('the file is cut short, or no backup');
    this.next = undefined;
    return next;
  }
}

async function* decompressed(file: string): AsyncGenerator<Buffer> {
  const gunzip = fs
    .createReadStream(file)
    .on('error', (error) => gunzip.destroy(error))
    .pipe(zlib.createGunzip());
  try {
    for await (const chunk of gunzip) yield chunk;
  } catch (error) {
    if (error instanceof BackupError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new BackupError(`${file} can't be read as a backup: ${reason}`, { cause: error });
  }
}

function parse<T>(schema: z.ZodType<T>, { payload }: Frame): T {
  try {
    return schema.parse(JSON.parse(payload.toString('utf8')));
  } catch (error) {
    throw new BackupError('the file is no backup of Holdfast', { cause: error });
  }
}

async function drain(rows: AsyncIterable<Buffer>): Promise<void> {
  for await (const _row of rows);
}
