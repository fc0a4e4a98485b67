/** Quantities as scenario files write them: durations, sizes, and bounds on a count. */
import { GIB, KIB, MIB, TIB } from '@holdfast/core/model/bytes.js';
import { z } from 'zod';

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const DURATION = /^(\d+(?:\.\d+)?)(s|m|h|d)$/;
const BYTES: Readonly<Record<string, number>> = { Ki: KIB, Mi: MIB, Gi: GIB, Ti: TIB };
const SIZE = /^(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti)$/;

/** Seconds, as a number or with a unit: `90`, `90s`, `10m`, `1h`, `2d`. */
export const durationSchema = z
  .union([z.number().min(0), z.string().regex(DURATION, 'write a duration as 30s, 10m, 1h or 2d')])
  .transform((value) => (typeof value === 'number' ? value : scaled(value, DURATION, SECONDS)))
  .describe('A duration: seconds, or a number with s, m, h or d.');

/** Bytes, as a number or with a unit: `4096`, `512Mi`, `10Gi`. */
export const sizeSchema = z
  .union([z.int().min(0), z.string().regex(SIZE, 'write a size as 512Mi, 10Gi or 1Ti')])
  .transform((value) => (typeof value === 'number' ? value : scaled(value, SIZE, BYTES)))
  .describe('A size: bytes, or a number with Ki, Mi, Gi or Ti.');

function scaled(text: string, form: RegExp, units: Readonly<Record<string, number>>): number {
  const [, number = '', unit = ''] = form.exec(text) ?? [];
  return Number(number) * (units[unit] ?? Number.NaN);
}

/** A number that a count has to be, or bounds for it. */
export const countSchema = z
  .union([
    z.int().min(0),
    z
      .strictObject({ min: z.int().min(0), max: z.int().min(0) })
      .partial()
      .refine(({ min, max }) => min !== undefined || max !== undefined, 'name min, max or both'),
  ])
  .describe('A number, or bounds for it: { min: 1, max: 3 }.');

export type Count = z.infer<typeof countSchema>;

export function isWithin(count: Count, actual: number): boolean {
  if (typeof count === 'number') return count === actual;
  return actual >= (count.min ?? 0) && actual <= (count.max ?? Number.POSITIVE_INFINITY);
}

export function countText(count: Count): string {
  if (typeof count === 'number') return String(count);
  const { min, max } = count;
  if (min === undefined) return `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}
