/** Type guards for values read from a file. */
import { isId } from '@holdfast/core/model/ids.js';

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && isId(value);
}
