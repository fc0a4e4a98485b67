/** A value of an option that may be given again, added to those before. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

type Given<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The given fields: the API changes the fields that a request names, and nothing else. */
export function given<T extends object>(fields: T): Given<T> {
  // The cast: entries that are undefined are taken out, which is all that the type says.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}
