import { expect, test } from '@jest/globals';
import { filterOf } from './volume-filter';

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
