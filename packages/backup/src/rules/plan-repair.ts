/** What a repair keeps: every blob that opens, at one place each; and which backups are lost, since something that they need is nowhere. */
import type { IndexEntry } from '../model/format.js';

export type FoundPack = {
  readonly pack: string;
  /** Entries of its directory, or of an index where that can't be read. */
  readonly entries: readonly IndexEntry[];
};

/**
 * @param damaged ids, in hex, of blobs that did not open at the place with that name: `<pack>:<offset>`
 * @returns the entries of new indexes
 */
export function planRepair(packs: readonly FoundPack[], damaged: ReadonlySet<string>): IndexEntry[] {
  const kept = new Map<string, IndexEntry>();
  for (const { entries } of packs)
    for (const entry of entries) {
      if (damaged.has(placeOf(entry))) continue;
      const id = Buffer.from(entry.id).toString('latin1');
      if (!kept.has(id)) kept.set(id, entry);
    }
  return [...kept.values()];
}

export const placeOf = ({ pack, offset }: IndexEntry): string => `${pack}:${offset}`;
