import type { StorageDisk } from '../../model/node.js';

/**
 * Distinct combinations of what a request can ask of a disk beside space: type, file system and tags. Each is known by
 * a small number and by one of its disks, so that the filters judge a class by judging that disk.
 */
export class DiskClasses {
  private readonly ids = new Map<string, number>();
  private readonly samples: StorageDisk[] = [];

  idOf(disk: StorageDisk): number {
    const key = JSON.stringify([disk.type, disk.fileSystem, distinctTags(disk.tags)]);
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    const id = this.samples.length;
    this.ids.set(key, id);
    this.samples.push(disk);
    return id;
  }

  /** The classes whose disks pass, in order. */
  passing(check: (sample: StorageDisk) => boolean): Set<number> {
    return new Set(this.samples.flatMap((sample, id) => (check(sample) ? [id] : [])));
  }
}

/** The order of tags and their repetition mean nothing. */
export function distinctTags(tags: readonly string[]): string[] {
  return [...new Set(tags)].sort();
}
