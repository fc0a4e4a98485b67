/**
 * The disks that this agent has used, by path. A disk that is not mounted leaves an empty folder: without this record
 * it would be taken for a new disk, and copies would be written below the mount point.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { asId, type DiskId, isId } from '@holdfast/core/model/ids.js';
import { systemCode } from '@holdfast/data-engine/base/system-error.js';
import { writeDurably } from '@holdfast/data-engine/disk/durable-file.js';
import { z } from 'zod';

const FILE = 'disks.json';
const storedSchema = z.object({
  format: z.literal(1),
  disks: z.record(
    z.string(),
    z
      .string()
      .refine(isId)
      .transform((text) => asId<DiskId>(text)),
  ),
});

export class KnownDisks {
  private constructor(
    private readonly file: string,
    private readonly byFolder: Map<string, DiskId>,
  ) {}

  static async load(stateDirectory: string): Promise<KnownDisks> {
    const file = path.join(stateDirectory, FILE);
    try {
      const { disks } = storedSchema.parse(JSON.parse(await fs.readFile(file, 'utf8')));
      return new KnownDisks(file, new Map(Object.entries(disks)));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return new KnownDisks(file, new Map());
      throw new Error(`${file} is not readable: ${error}`);
    }
  }

  get path(): string {
    return this.file;
  }

  diskIn(folder: string): DiskId | undefined {
    return this.byFolder.get(folder);
  }

  async remember(folder: string, diskId: DiskId): Promise<void> {
    if (this.byFolder.get(folder) === diskId) return;
    this.byFolder.set(folder, diskId);
    const disks = Object.fromEntries([...this.byFolder].sort(([a], [b]) => (a < b ? -1 : 1)));
    await fs.mkdir(path.dirname(this.file), { recursive: true, mode: 0o700 });
    await writeDurably(this.file, `${JSON.stringify({ format: 1, disks }, null, 2)}\n`);
  }
}
