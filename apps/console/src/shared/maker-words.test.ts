import { expect, test } from '@jest/globals';
import { makerWords } from './maker-words';

const ADA = { userId: '01a222cd-b708-7146-9e18-735a886471ea', name: 'Ada' };
const EVE = { userId: '01a222ce-8201-7ebc-a55e-9fa4d0fcf250', name: 'Eve' };

test.each([
  ['the user who looks', ADA.userId, [ADA, EVE], 'Ada (you)'],
  ['another member', EVE.userId, [ADA, EVE], 'Eve'],
  ['one whose name is not known', EVE.userId, undefined, 'user 01a222ce'],
  ['the installation', null, [ADA], 'no member'],
])('%s is named as the maker', (_who, id, members, want) => {
  expect(makerWords(id, members, ADA)).toBe(want);
});
