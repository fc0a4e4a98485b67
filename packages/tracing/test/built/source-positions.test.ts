import fs from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { expect, test } from '@jest/globals';
import { errorSerializers } from '../../src/source-positions.js';

const BUILT = path.join(repositoryRoot, 'packages/tracing/dist/traceparent.js');
const SOURCE = path.join(repositoryRoot, 'packages/tracing/src/traceparent.ts');
/** A statement of both: the built file has other lines above it. */
const STATEMENT = 'FORM.exec(';

/** The stack of an error that was thrown in a line of a built file. */
function thrownIn(file: string, line: number): Error {
  const error = new Error('it went wrong');
  error.stack = `Error: it went wrong\n    at parse (file://${file}:${line}:9)\n    at node:internal/process:1:2`;
  return error;
}

const lineOf = (file: string, text: string) =>
  fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .findIndex((line) => line.includes(text)) + 1;

const told = (error: Error) => errorSerializers.err(error) as { message: string; stack: string };

test('an error is told with the line of the source, and where it has none as it is', () => {
  const { message, stack } = told(thrownIn(BUILT, lineOf(BUILT, STATEMENT)));
  expect(message).toBe('it went wrong');
  expect(stack).toContain(`at parse (${SOURCE}:${lineOf(SOURCE, STATEMENT)}:`);
  expect(stack).toContain('at node:internal/process:1:2');
  const strange = path.join(repositoryRoot, 'packages/tracing/dist/no-such-file.js');
  expect(told(thrownIn(strange, 3)).stack).toContain(`file://${strange}:3:9`);
  expect(errorSerializers.err('a text' as unknown as Error)).toBe('a text');
});
