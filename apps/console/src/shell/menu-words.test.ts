import { parseFilter } from '@holdfast/core/listing/filter.js';
import { VOLUME_FIELDS } from '@holdfast/core/listing/list-fields.js';
import { expect, test } from '@jest/globals';
import { type Answers, menuScore, namesFilter, searchNote } from './menu-words';

test.each([
  ['Drain node-2', 'drain node-2', true],
  ['Drain node-2', 'node-2 drain', true],
  ['Drain node-2', 'drain node-3', false],
  ['Tokens my account access keys', 'account', true],
  ['Overview', 'ovw', false],
  ['Overview', '', true],
])('the line %j matches what was typed, %j: %j', (line, typed, want) => {
  expect(menuScore(line, typed) > 0).toBe(want);
});

test('lines that begin with what was typed come first', () => {
  const lines = ['Resize web-1', 'web-1', 'Not a web'];
  const scores = lines.map((line) => menuScore(line, 'web'));
  expect(scores).toEqual([0.8, 1, 0.8]);
});

test.each([
  ['', ''],
  ['drain node-2', 'name=drain* OR name=node-2*'],
  ['Drain Drain drain', 'name=drain*'],
  ['a b c d e', 'name=a* OR name=b* OR name=c*'],
  ['x OR id>0) "', 'name=x* OR name=or*'],
])('names that are asked for: %j as %j', (typed, want) => {
  expect(namesFilter(typed)).toBe(want);
  expect(() => parseFilter(want, VOLUME_FIELDS)).not.toThrow();
});

const known: Answers = { Volumes: 'known', Nodes: 'known' };

test.each<[string, number, Answers, boolean, string | undefined]>([
  ['nothing matches', 0, known, false, 'Nothing is called that.'],
  ['lines match', 2, known, false, undefined],
  ['a search has no answer yet', 0, { ...known, Nodes: 'pending' }, false, 'Searching…'],
  ['lines match and a search has no answer yet', 2, { ...known, Nodes: 'pending' }, false, undefined],
  ['a search failed', 0, { ...known, Nodes: 'failed' }, false, 'No answer for nodes: there may be more.'],
  [
    'searches failed beside lines that match',
    2,
    { Volumes: 'failed', Nodes: 'failed', Disks: 'failed' },
    false,
    'No answer for volumes, nodes and disks: there may be more.',
  ],
  [
    'the API is away',
    0,
    { Volumes: 'known', Nodes: 'pending' },
    true,
    'No answer for nodes: there may be more.',
  ],
])('the note of a search where %s', (_when, lines, answers, isCut, want) => {
  expect(searchNote(lines, answers, isCut)).toBe(want);
});
