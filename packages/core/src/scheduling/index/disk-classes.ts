import type { StorageDisk } from '../../model/node.js';

/**
 * Disk classes: distinct combinations of what a request can ask of a disk beside space, which is type, file system and
 * tags. Each has a small number and one sample disk, so that the filters judge a class by judging that disk.
 */
export class DiskClasses {
  private readonly ids = new Map<string, number>();
  private readonly samples: StorageDisk[] = [];

  /** @param likely the class that it had before, if it had one: nearly always still the same */
  idOf(disk: StorageDisk, likely: number | undefined): number {
    const sample = likely === undefined ? undefined : this.samples[likely];
    if (likely !== undefined && sample !== undefined && looksSame(sample, disk)) return likely;
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

function looksSame(a: StorageDisk, b: StorageDisk): boolean {
  return (
    a.type === b.type &&
    a.fileSystem === b.fileSystem &&
    a.tags.length === b.tags.length &&
    a.tags.every((tag, index) => tag === b.tags[index])
  );
}

/** The order of tags and their repetition mean nothing. */
export function distinctTags(tags: readonly string[]): string[] {
  return [...new Set(tags)].sort();
}
