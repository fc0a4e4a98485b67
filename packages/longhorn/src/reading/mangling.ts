/**
 * Undoing of what support-bundle-kit does to objects (Longhorn 1.4 and later). It replaces text in the JSON of a whole list before it
 * writes YAML: `null` after a key of letters and before a comma, and each two adjacent quotes, become `"null"`. So an empty string
 * reads "null", and so does the end of a string that ends in a quote. Numbers go through doubles, which YAML reads back as they were.
 */

/** Is the file of a folder that only the kit writes, or does it say "null" where Kubernetes has an empty string without exception? */
export function isMangled(file: string, text: string): boolean {
  return (
    /(?:^|\/)yamls\/(?:cluster|namespaced)\//.test(file.replaceAll('\\', '/')) ||
    /lastProbeTime: "?null"?$/m.test(text)
  );
}

/** Fields that are null when unset, and never an empty string. */
const NULLABLE: ReadonlySet<string> = new Set([
  'tags',
  'conditions',
  'disks',
  'diskStatus',
  'scheduledReplica',
  'scheduledBackingImage',
  'diskSelector',
  'nodeSelector',
  'creationTimestamp',
  'deletionTimestamp',
  'lastPeriodicCheckedAt',
  'lastSyncedAt',
  'healthDataLastCollectedAt',
  'workloadsStatus',
  'labels',
  'annotations',
  'snapshots',
  'children',
  'parameters',
]);

export function undoMangling(value: unknown, key = ''): unknown {
  if (typeof value === 'string') {
    if (value === 'null') return NULLABLE.has(key) ? null : '';
    return withoutTail(value);
  }
  if (Array.isArray(value)) return value.map((item) => undoMangling(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      // Its keys hold quotes too, and nothing in it is read.
      .filter(([name]) => name !== 'managedFields')
      .map(([name, item]) => [name === 'null' ? '' : withoutTail(name), undoMangling(item, name)]),
  );
}

/** The quote at a string's end and the one that closed it were two adjacent ones. */
function withoutTail(text: string): string {
  return text.endsWith('"null') ? text.slice(0, -4) : text;
}
