/** Reading of JSON whose shape the API's document does not give. */

type TypeNames = { string: string; number: number; object: object | null };

/** True for an object that has at least these fields, each of the named type. */
export function isObjectWith<Fields extends Readonly<Record<string, keyof TypeNames>>>(
  value: unknown,
  fields: Fields,
): value is { [Name in keyof Fields]: TypeNames[Fields[Name]] } {
  return Object.entries(fields).every(([name, type]) => typeof fieldOf(value, name) === type);
}

/** A field of parsed JSON; `undefined` where there is none. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
