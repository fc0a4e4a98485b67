/**
 * Sealed JSON: an object in a small file that carries a checksum of its other fields. A byte that rots is noticed even where the text
 * is still JSON, as in an id, a path or a number.
 *
 * The checksum is of the values, not of the text: other blanks between them are no damage.
 */
import { blake3Of } from '../base/blake3.js';
import { isObject } from './stored-values.js';

/** @param value with its `format`, by which readers know that it has a checksum */
export function sealJson(value: { readonly format: number; readonly [name: string]: unknown }): string {
  return `${JSON.stringify({ ...value, blake3: sumOf(value) }, null, 2)}\n`;
}

/**
 * The object, without its checksum.
 *
 * @param sealedFrom the first format with a checksum; earlier formats, and files without a format, have none
 * @returns `undefined` if the content is not what was written
 */
export function openJson(text: string, sealedFrom: number): Record<string, unknown> | undefined {
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(stored)) return undefined;
  const { blake3, ...value } = stored;
  if (blake3 !== undefined) return blake3 === sumOf(value) ? value : undefined;
  const isOld = value.format === undefined || (typeof value.format === 'number' && value.format < sealedFrom);
  return isOld ? value : undefined;
}

function sumOf(value: Record<string, unknown>): string {
  return blake3Of([Buffer.from(JSON.stringify(value))]).toString('hex');
}
