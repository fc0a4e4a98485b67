import { expect, test } from '@jest/globals';
import { ALL_PLACES } from '../shared/places';
import { GLOBAL_ACTIONS } from './menu-actions';

test('actions begin on pages that there are', () => {
  const places = ALL_PLACES.map(({ href }) => href);
  for (const { href } of GLOBAL_ACTIONS) expect(places).toContain(href);
});
