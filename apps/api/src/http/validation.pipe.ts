import { type FaultItem, StorageFault } from '@holdfast/core/model/faults.js';
import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import type { z } from 'zod';
import { schemaOf } from './dto.js';
import { wordIssues } from './issue-words.js';

wordIssues();

/** Errors named in one answer: enough to repair a request, few enough to read. */
const ERRORS_MAX = 20;

type ZodIssue = z.core.$ZodIssue;

/** Checks bodies, queries and paths against the zod schema of their DTO class. */
@Injectable()
export class ValidationPipe implements PipeTransform {
  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    const schema = schemaOf(metatype);
    if (schema === undefined) return value;
    // A POST without a body counts as one without fields: actions need none.
    const result = schema.safeParse(type === 'body' ? (value ?? {}) : value);
    if (result.success) return result.data;
    // A malformed id can not exist.
    if (type === 'param') {
      throw new StorageFault('request.not_found', { publicMessage: 'there is nothing under this address' });
    }
    throw invalidRequest(result.error.issues, type === 'query' ? queryPointer : bodyPointer);
  }
}

export function invalidRequest(
  issues: readonly ZodIssue[],
  pointerOf: (path: readonly PropertyKey[]) => string,
): StorageFault {
  const errors = oneEach(issues.flatMap((issue) => itemsOf(issue, pointerOf))).slice(0, ERRORS_MAX);
  const publicMessage = errors.map(({ pointer, detail }) => `${fieldOf(pointer)} ${detail}`).join('; ');
  return new StorageFault('request.invalid', { publicMessage, errors });
}

/** One item for each field, with all of its requirements. */
function oneEach(items: readonly FaultItem[]): FaultItem[] {
  const details = new Map<string, string>();
  for (const { pointer, detail } of items) {
    const before = details.get(pointer);
    details.set(pointer, before === undefined ? detail : `${before} and ${detail}`);
  }
  return [...details].map(([pointer, detail]) => ({ pointer, detail }));
}

/** The field's usual name: without the pointer's first slash. */
function fieldOf(pointer: string): string {
  return pointer === '' ? 'the body' : pointer.replace(/^\//, '');
}

/** For an unknown field the item names the field, not its object. */
function itemsOf(issue: ZodIssue, pointerOf: (path: readonly PropertyKey[]) => string): FaultItem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      pointer: pointerOf([...issue.path, key]),
      detail: 'is not known here',
    }));
  }
  return [{ pointer: pointerOf(issue.path), detail: issue.message }];
}

/** RFC 6901. */
export function bodyPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function queryPointer(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}
