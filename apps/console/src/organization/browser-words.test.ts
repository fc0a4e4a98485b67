import { expect, test } from '@jest/globals';
import { browserWords } from './browser-words';

const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36';

test.each([
  [`192.0.2.7 ${CHROME}`, 'Chrome on Linux, 192.0.2.7'],
  [`192.0.2.7 ${CHROME} Edg/140.0`, 'Edge on Linux, 192.0.2.7'],
  ['::1 Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Windows, ::1'],
  ['::1 Mozilla/5.0 (iPhone; CPU iPhone OS 18 like Mac OS X) Version/18 Safari/604', 'Safari on iOS, ::1'],
  ['::1 curl/8.5', '::1 curl/8.5'],
  ['::1', '::1'],
])('the session from %s is told as %s', (madeFrom, words) => {
  expect(browserWords(madeFrom)).toBe(words);
});
