/**
 * Labels: keys with values that users give to volumes, nodes and disks, to find them by. They have the syntax and bounds of
 * Kubernetes' labels. Placement does not read them: it reads tags.
 */
import { type FaultItem, StorageFault } from './faults.js';

/** Values by key, in the order of the keys. */
export type Labels = Readonly<Record<string, string>>;
/** A change of some labels; null takes one off. */
export type LabelChanges = Readonly<Record<string, string | null>>;

export const LABELS_MAX = 64;
/** An optional DNS name before a slash, and a name of letters, digits and `-_.` that begins and ends with a letter or digit. */
export const LABEL_KEY =
  /^(?:(?=.{1,253}\/)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
/** As a key's name, or empty. */
export const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;

/**
 * Labels after a change.
 *
 * @returns undefined when none are left
 * @throws StorageFault `request.invalid` that names each wrong label
 */
export function changedLabels(before: Labels | undefined, changes: LabelChanges): Labels | undefined {
  const after = new Map(Object.entries(before ?? {}));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) after.delete(key);
    else after.set(key, value);
  }
  const problems = Object.entries(changes).flatMap(([key, value]) => problemsOf(key, value));
  if (after.size > LABELS_MAX)
    problems.push({ pointer: '/labels', detail: `may be ${LABELS_MAX} at most, and would be ${after.size}` });
  if (problems.length > 0) {
    const publicMessage = problems.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join('; ');
    throw new StorageFault('request.invalid', { publicMessage, errors: problems });
  }
  return sortedLabels(Object.fromEntries(after));
}

/** The same labels in the order of their keys, so that equal ones are equal as text. Undefined: there are none. */
export function sortedLabels(labels: Labels): Labels | undefined {
  const entries = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function problemsOf(key: string, value: string | null): FaultItem[] {
  const pointer = `/labels/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  if (value !== null && !LABEL_KEY.test(key))
    return [
      {
        pointer,
        detail: 'is no key: at most 63 letters, digits, -, _ and ., perhaps after a DNS name and /',
      },
    ];
  if (value !== null && !LABEL_VALUE.test(value))
    return [{ pointer, detail: 'must be at most 63 letters, digits, -, _ and ., or empty' }];
  return [];
}
