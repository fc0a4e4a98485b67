/** Fields of an object, read leniently: releases differ in what they write, and missing, null and empty are the same. */
import { z } from 'zod';
import type { KubernetesObject } from './read-objects.js';

const record = z.record(z.string(), z.unknown());
export type Fields = Readonly<Record<string, unknown>>;

/** A part of an object; empty where it is left out. An object that was just made has no status. */
export function part(fields: Fields, ...names: readonly string[]): Fields {
  let found: Fields = fields;
  for (const name of names) found = record.safeParse(found[name]).data ?? {};
  return found;
}

export function entries(fields: Fields): [string, Fields][] {
  return Object.keys(fields).map((name) => [name, part(fields, name)]);
}

export function text(fields: Fields, ...names: readonly string[]): string {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return '';
}

export function flag(fields: Fields, name: string): boolean {
  return fields[name] === true || fields[name] === 'true';
}

export function texts(fields: Fields, name: string): readonly string[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Sizes are texts of digits in some kinds, and numbers in others. A number past 2^53 has lost digits on its way through JSON. */
export function whole(fields: Fields, name: string, problems: (message: string) => void): number {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return 0;
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
  problems(`${name} is no whole number below 2^53: ${String(value).slice(0, 40)}`);
  return 0;
}

export type LonghornCondition = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
};

/** Up to 1.2 a map by type, then a list. */
export function conditions(status: Fields): readonly LonghornCondition[] {
  const value = status.conditions;
  const list = Array.isArray(value)
    ? value
    : Object.entries(part(status, 'conditions')).map(([type, one]) => ({
        type,
        ...record.safeParse(one).data,
      }));
  return list.flatMap((one): LonghornCondition[] => {
    const fields = record.safeParse(one).data;
    if (fields === undefined) return [];
    const [type, reason, message, lastTransitionTime] = [
      'type',
      'reason',
      'message',
      'lastTransitionTime',
    ].map((name) => text(fields, name));
    return type === undefined || type === ''
      ? []
      : [
          {
            type,
            status: text(fields, 'status'),
            reason: reason ?? '',
            message: message ?? '',
            lastTransitionTime: lastTransitionTime ?? '',
          },
        ];
  });
}

export function conditionOf(list: readonly LonghornCondition[], type: string): LonghornCondition | undefined {
  return list.find((condition) => condition.type === type);
}

export function isTrue(list: readonly LonghornCondition[], type: string): boolean {
  return conditionOf(list, type)?.status === 'True';
}

export function isBeingDeleted({ json }: KubernetesObject): boolean {
  return text(part(json, 'metadata'), 'deletionTimestamp') !== '';
}
