/** A message of the stream: ids of changed objects, by their kinds. */

/** Null: more of the kind have changed than are named. */
export type ChangedOfKind = { readonly kind: string; readonly ids: readonly string[] | null };

/** Kinds that this console does not know are read all the same; values that are no lists of ids are left out. */
export function readIds(data: string): ChangedOfKind[] {
  const value: unknown = JSON.parse(data);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([kind, ids]: [string, unknown]): ChangedOfKind[] => {
    if (ids === null) return [{ kind, ids }];
    return Array.isArray(ids) ? [{ kind, ids: ids.filter((id) => typeof id === 'string') }] : [];
  });
}
