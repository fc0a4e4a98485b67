import { describe, expect, test } from '@jest/globals';
import { isAsPrinted, stepsOf } from './printed-tour.js';

describe('output is compared with what is printed', () => {
  test.each<[string, string, string, boolean]>([
    ['the same', 'a\nb\n', 'a\nb', true],
    ['another word', 'a\nc\n', 'a\nb', false],
    ['a line more', 'a\nb\nc\n', 'a\nb', false],
    ['a line less', 'a\n', 'a\nb', false],
    ['nothing, and nothing is printed', '', '', true],
    ['any text', 'size 5 GiB left\n', 'size … left', true],
    ['any lines', 'a\nx\ny\nb\n', 'a\n…\nb', true],
    ['no lines where there may be some', 'a\nb\n', 'a\n…\nb', true],
    ['another pid', 'ready, pid 5\n', 'ready, pid 27325', true],
    ['another age', 'HEARD\n1s ago\n', 'HEARD\n12s ago', true],
    ['a line of waiting', 'pg-data waits (0 s): waiting a moment\nnbd\n', 'nbd', true],
    ['wider columns', 'NAME      STATE\n', 'NAME  STATE', true],
    ['signs of a pattern', '1 (of 2)\n', '1 (of 3)', false],
  ])('of %s is told whether it is the printed one', (_name, output, printed, want) => {
    expect(isAsPrinted(output, printed)).toBe(want);
  });
});

test('the steps of a section are its commands with their output', () => {
  const page =
    'x\n## Tour\n\nText.\n\n```\n$ one\nsaid\n\nmore\n$ two\n```\n\n## Next\n\n```\n$ three\n```\n';
  expect(stepsOf(page, 'Tour')).toEqual([
    { command: 'one', output: 'said\n\nmore' },
    { command: 'two', output: '' },
  ]);
});
