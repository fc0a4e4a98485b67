import { expect, test } from '@jest/globals';
import { filterOf, problemOf } from './volume-filter';

test.each([
  ['', ''],
  ['  ', ''],
  ['pg', 'name=pg*'],
  [' Pg-Data ', 'name=pg-data*'],
  ['robustness!=healthy', 'robustness!=healthy'],
  ['size>10Gi and state=attached', 'size>10Gi and state=attached'],
])('a search for %j asks the API for %j', (text, filter) => {
  expect(filterOf(text)).toBe(filter);
});

test.each([
  ['state=attached', undefined],
  ['state=', "filter can't be read from here on: its end"],
  ['colour=red', 'filter has no field colour'],
])('of %j the problem is %j', (filter, problem) => {
  if (problem === undefined) expect(problemOf(filter)).toBeUndefined();
  else expect(problemOf(filter)).toContain(problem);
});
