/** Words for a change of what users want: each field that differs, with its new and its old value. */

/**
 * `allowScheduling is false, was true; tags is [ssd], was []`
 *
 * @returns undefined where no field differs
 */
export function changedFields<Spec>(
  before: Spec,
  after: Spec,
  fields: readonly (keyof Spec & string)[],
): string | undefined {
  const changes = fields.flatMap((field) => {
    const [was, is] = [textOf(before[field]), textOf(after[field])];
    return was === is ? [] : [`${field} is ${is}, was ${was}`];
  });
  return changes.length === 0 ? undefined : changes.join('; ');
}

function textOf(value: unknown): string {
  if (value === undefined || value === '') return 'empty';
  if (Array.isArray(value)) return `[${value.join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value).map(([key, part]) => `${key}=${String(part)}`);
  return `{${parts.join(', ')}}`;
}
