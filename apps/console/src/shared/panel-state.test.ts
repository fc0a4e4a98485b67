import { expect, test } from '@jest/globals';
import { toProblem } from '../api/problem';
import { panelStateOf } from './panel-state';

const silence = new TypeError('Failed to fetch');
const refusal = toProblem(404, undefined);
const trouble = toProblem(502, undefined);

test.each([
  { name: 'nothing yet', query: { data: undefined, error: null }, whole: 'loading', cut: 'unanswered' },
  { name: 'an answer', query: { data: [], error: null }, whole: 'data', cut: 'data' },
  {
    name: 'no answer to the first question',
    query: { data: undefined, error: silence },
    whole: 'problem',
    cut: 'unanswered',
  },
  { name: 'no answer to a later one', query: { data: [], error: silence }, whole: 'stale', cut: 'data' },
  { name: 'trouble on the way to the API', query: { data: [], error: trouble }, whole: 'stale', cut: 'data' },
  { name: 'a refusal', query: { data: undefined, error: refusal }, whole: 'problem', cut: 'problem' },
  { name: 'a later refusal', query: { data: [], error: refusal }, whole: 'stale', cut: 'stale' },
])('of $name a panel shows: $whole, and while the API is away: $cut', ({ query, whole, cut }) => {
  expect(panelStateOf(query, false)).toBe(whole);
  expect(panelStateOf(query, true)).toBe(cut);
});
