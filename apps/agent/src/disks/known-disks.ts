/**
 * The agent's record of its disks: those that it has used, by path, those that users added, and those that they took off.
 *
 * A disk that is not mounted leaves an empty folder: without this record it would be taken for a new disk, and copies
 * would be written below the mount point.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { asId, type DiskId, isId } from '@holdfast/core/model/ids.js';
import { writeDurably } from '@holdfast/data-engine/disk/durable-file.js';
import { openJson, sealJson } from '@holdfast/data-engine/disk/sealed-json.js';
import { z } from 'zod';
import { stateDamaged, textOf } from '../state-files.js';

const FILE = 'disks.json';
/** Format 2 has a checksum. */
const FORMAT = 2;
const DAMAGE_CURE =
  'see that all disks of this node are mounted, remove the file and start the agent: it reads from the disks which they are';
const diskId = z
  .string()
  .refine(isId)
  .transform((text) => asId<DiskId>(text));
const storedSchema = z.object({
  format: z.union([z.literal(1), z.literal(FORMAT)]),
  disks: z.record(z.string(), diskId),
  added: z
    .array(
      z.object({
        diskId,
        name: z.string(),
        path: z.string(),
        type: z.enum(['filesystem', 'block']),
        sizeBytes: z.number().int().positive(),
      }),
    )
    .default([]),
  removed: z.array(z.string()).default([]),
});

/** A disk that a user added. `diskId`: its id unless a disk is found at the path. */
export type AddedDisk = Readonly<z.output<typeof storedSchema>['added'][number]>;
type Stored = Readonly<{ added: readonly AddedDisk[]; removed: readonly string[] }>;

export class KnownDisks {
  private constructor(
    private readonly file: string,
    private readonly byFolder: Map<string, DiskId>,
    private lists: Stored = { added: [], removed: [] },
  ) {}

  static async load(stateDirectory: string): Promise<KnownDisks> {
    const file = path.join(stateDirectory, FILE);
    const text = await textOf(file);
    if (text === undefined) return new KnownDisks(file, new Map());
    const { data, error } = storedSchema.safeParse(openJson(text, FORMAT));
    if (data === undefined) throw stateDamaged(file, DAMAGE_CURE, error);
    const { format: _, disks, ...lists } = data;
    return new KnownDisks(file, new Map(Object.entries(disks)), lists);
  }

  get path(): string {
    return this.file;
  }

  diskIn(folder: string): DiskId | undefined {
    return this.byFolder.get(folder);
  }

  /** Disks that users added, in the order in which they did. */
  get added(): readonly AddedDisk[] {
    return this.lists.added;
  }

  /** Did a user take the disk at this path off the node? The agent's configuration may still name it. */
  isRemoved(folder: string): boolean {
    return this.lists.removed.includes(folder);
  }

  async remember(folder: string, diskId: DiskId): Promise<void> {
    if (this.byFolder.get(folder) === diskId) return;
    this.byFolder.set(folder, diskId);
    await this.write();
  }

  async noteAdded(disk: AddedDisk): Promise<void> {
    const others = this.lists.added.filter(({ path: at }) => at !== disk.path);
    this.lists = {
      added: [...others, disk],
      removed: this.lists.removed.filter((folder) => folder !== disk.path),
    };
    await this.write();
  }

  /** Forgets the disk and that its path was ever used: a disk added there later is treated as new. */
  async noteRemoved(folder: string, isConfigured: boolean): Promise<void> {
    this.byFolder.delete(folder);
    const removed = this.lists.removed.filter((known) => known !== folder);
    this.lists = {
      added: this.lists.added.filter(({ path: at }) => at !== folder),
      removed: isConfigured ? [...removed, folder] : removed,
    };
    await this.write();
  }

  private async write(): Promise<void> {
    const disks = Object.fromEntries([...this.byFolder].sort(([a], [b]) => (a < b ? -1 : 1)));
    await fs.mkdir(path.dirname(this.file), { recursive: true, mode: 0o700 });
    await writeDurably(this.file, sealJson({ format: FORMAT, disks, ...this.lists }));
  }
}
