import { expect, test } from '@jest/globals';
import { mayReadMetrics, type Scraper } from './metrics-access.js';

const TOKEN = 'a-token-of-the-operator';
const local: Scraper = { address: '127.0.0.1', isForwarded: false, authorization: undefined };
const remote: Scraper = { ...local, address: '10.0.0.7' };
const bearing = (token: string): Scraper => ({ ...remote, authorization: `Bearer ${token}` });

test.each<{ what: string; scraper: Scraper; token?: string; may: boolean }>([
  { what: 'the machine itself', scraper: local, may: true },
  { what: 'the machine itself by IPv6', scraper: { ...local, address: '::1' }, may: true },
  { what: 'IPv4 on a socket for both', scraper: { ...local, address: '::ffff:127.0.0.1' }, may: true },
  { what: 'another machine', scraper: remote, may: false },
  { what: 'a connection without an address', scraper: { ...local, address: undefined }, may: false },
  { what: "a proxy's callers", scraper: { ...local, isForwarded: true }, may: false },
  { what: 'a token where none is set', scraper: bearing(TOKEN), may: false },
  { what: 'the token, from anywhere', scraper: bearing(TOKEN), token: TOKEN, may: true },
  { what: 'the machine itself where a token is set', scraper: local, token: TOKEN, may: false },
  { what: 'another token', scraper: bearing('another-token-of-nobody'), token: TOKEN, may: false },
  { what: 'a beginning of the token', scraper: bearing(TOKEN.slice(0, 5)), token: TOKEN, may: false },
  { what: 'the token twice', scraper: bearing(TOKEN + TOKEN), token: TOKEN, may: false },
  { what: 'the machine itself where the token is empty', scraper: local, token: '', may: true },
])('metrics may be read by $what: $may', ({ scraper, token, may }) => {
  expect(mayReadMetrics(scraper, token)).toBe(may);
});
