import type { VolumeSpec } from '../../model/volume.js';
import type { CureChange } from '../framework/cure-change.js';

/** A place whose tags do not satisfy one of the volume's selectors. */
type Mismatch = {
  readonly tags: readonly string[];
  readonly selector: 'nodeSelector' | 'diskSelector';
  readonly setting: 'allow-empty-node-selector-volume' | 'allow-empty-disk-selector-volume';
  readonly tagIt: (missing: readonly string[]) => CureChange;
};

/** Tag the place, or ask for less; where the selector is empty and the place is kept for others, ask for its tag. */
export function missingTagCures(spec: VolumeSpec, mismatch: Mismatch): CureChange[] {
  const { tags, selector, setting, tagIt } = mismatch;
  const wanted = spec[selector];
  if (wanted.length > 0) {
    const missing = [...new Set(wanted.filter((tag) => !tags.includes(tag)))].sort();
    return [tagIt(missing), { kind: 'remove-selector-tags', selector, tags: missing }];
  }
  return [
    { kind: 'add-selector-tags', selector, tags: [...tags].sort().slice(0, 1) },
    { kind: 'set-setting', setting, from: false, to: true },
  ];
}

export function selectorInWords(selector: readonly string[]): string {
  return selector.length === 0 ? 'it is empty, and tagged ones are kept' : selector.join(', ');
}
