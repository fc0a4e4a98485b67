import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from '@jest/globals';

const CLI = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const FOLDER = mkdtempSync(join(tmpdir(), 'holdfast-conformance-'));
afterAll(() => rmSync(FOLDER, { recursive: true }));

/** A vector in which the tags lack the selector: right with `result: false`, wrong with `true`. */
const vector = (name: string, result: boolean) => ({
  name,
  category: 'selectors',
  op: 'selectors-in-tags',
  input: { tags: [], selectors: ['fast'], allowEmptySelector: true },
  expected: { result },
});

function run(vectors: unknown, ...more: string[]) {
  const file = join(FOLDER, 'vectors.json');
  writeFileSync(file, typeof vectors === 'string' ? vectors : JSON.stringify(vectors));
  const { stdout, stderr, status } = spawnSync(process.execPath, [CLI, 'conformance', file, ...more], {
    encoding: 'utf8',
  });
  return { lines: stdout.trimEnd().split('\n'), stderr, status };
}

describe('holdfast conformance', () => {
  test('ends with the counts', () => {
    expect(run([vector('right', false)])).toMatchObject({ lines: ['1 passed, 0 failed'], status: 0 });
  });

  test('names what failed, and fails', () => {
    expect(run([vector('right', false), vector('wrong', true), { name: 'odd', op: 'fly' }])).toMatchObject({
      lines: [
        'wrong: got false, wanted true',
        expect.stringMatching(/^odd: got can't be read: op /),
        '1 passed, 2 failed',
      ],
      status: 3,
    });
  });

  test('leaves the auto-balance categories out', () => {
    expect(run([{ name: 'moves', op: 'auto-balance' }])).toMatchObject({
      lines: ['0 passed, 0 failed'],
      stderr: '1 auto-balance vectors left out\n',
      status: 0,
    });
  });

  test.each([
    { name: 'a file that is not JSON', vectors: '[', more: [], says: 'is not JSON' },
    { name: 'a file without a list', vectors: {}, more: [], says: 'holds no list of vectors' },
    { name: 'a path that is not there', vectors: [], more: [join(FOLDER, 'none')], says: 'there is no file' },
  ])('$name is wrong usage', ({ vectors, more, says }) => {
    const { stderr, status } = run(vectors, ...more);
    expect(stderr).toContain(says);
    expect(status).toBe(2);
  });
});
