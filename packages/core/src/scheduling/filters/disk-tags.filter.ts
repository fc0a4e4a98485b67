import { namesOf } from '../framework/cure-change.js';
import type { DiskFilter } from '../framework/framework.js';
import { tagsMatch } from '../framework/tags.js';
import { missingTagCures, selectorInWords } from './missing-tags.js';

/** Rejects a disk that lacks a tag of the volume's disk selector. */
export const diskTagsFilter: DiskFilter<'DiskTagsMissing'> = {
  name: 'disk-tags',
  description: 'Disk has the wanted tags',
  inIndex: 'kind',
  reasons: {
    DiskTagsMissing: {
      summary: 'disk tags not fulfilled',
      refused: ['disk does not match the disk selector', 'disks do not match the disk selector'],
      detail: ({ diskSelector }) => selectorInWords(diskSelector),
      cures: (disk, { node, spec }) =>
        missingTagCures(spec, {
          tags: disk.tags,
          selector: 'diskSelector',
          setting: 'allow-empty-disk-selector-volume',
          tagIt: (missing) => ({ kind: 'tag-disk', tags: missing, ...namesOf(node, disk) }),
        }),
    },
  },

  prepare({ request, fleet }) {
    const { diskSelector } = request;
    const allowEmpty = fleet.settings['allow-empty-disk-selector-volume'];
    if (diskSelector.length === 0 && allowEmpty) return undefined;

    return (disk) => {
      if (tagsMatch(disk.tags, diskSelector, allowEmpty)) return undefined;
      const isReserved = diskSelector.length === 0;
      return {
        rule: 'disk-tags',
        reason: 'DiskTagsMissing',
        message: isReserved
          ? `disk ${disk.name} is kept for volumes that select its tags`
          : `disk ${disk.name} lacks a tag of [${diskSelector.join(', ')}]`,
        cure: isReserved
          ? 'give the volume a disk selector, or set allow-empty-disk-selector-volume to true'
          : `tag disk ${disk.name} with ${diskSelector.join(', ')}`,
      };
    };
  },
};
