import type { Condition } from '@holdfast/core/model/condition.js';
import { type Labels, sortedLabels } from '@holdfast/core/model/labels.js';

/** A type after JSON: dates are texts. */
export type Stored<T> = T extends Date
  ? string
  : T extends string | number | boolean | null | undefined
    ? T
    : { [Key in keyof T]: Stored<T[Key]> };

type TimeColumn<Row> = {
  [Name in keyof Row]-?: [Extract<Row[Name], Date>] extends [never] ? never : Name;
}[keyof Row];

/** A row as Postgres writes it in JSON: times are texts. */
export type JsonRow<Row> = Omit<Row, TimeColumn<Row>> & { [Name in TimeColumn<Row>]: string | null };

export type StoredCondition<Type extends string> = Omit<Condition<Type>, 'lastTransitionAt'> & {
  lastTransitionAt: string;
};

export function readConditions<Type extends string>(
  stored: readonly StoredCondition<Type>[],
): Condition<Type>[] {
  return stored.map((condition) => ({
    type: condition.type,
    status: condition.status,
    reason: condition.reason,
    message: condition.message,
    lastTransitionAt: new Date(condition.lastTransitionAt),
  }));
}

/** Labels as they were stored. JSON in Postgres keeps an order of its own. */
export function readLabels(stored: Labels | null): Labels | undefined {
  return stored === null ? undefined : sortedLabels(stored);
}

/** SQL has one representation of a missing value, and so has this code. */
export function orUndefined<T>(value: T | null): T | undefined {
  return value ?? undefined;
}

export function dateOrNull(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
