import { expect, test } from '@jest/globals';
import { buildSchema, parse, validate } from 'graphql';
import { withoutSuggestions } from './hidden-schema.js';

const SCHEMA = buildSchema('type Query { volume(volumeId: ID): String } input Hidden { secretName: String }');

test.each([
  ['a field', '{ volum }', 'Cannot query field "volum" on type "Query".'],
  ['an argument', '{ volume(volumeI: 1) }', 'Unknown argument "volumeI" on field "Query.volume".'],
  ['a type', 'query ($a: Hiden) { volume(volumeId: $a) }', 'Unknown type "Hiden".'],
])('a wrong name of %s is answered without the right one', (_what, query, message) => {
  const errors = validate(SCHEMA, parse(query));
  expect(errors[0]?.message).toContain('Did you mean');
  expect(withoutSuggestions({ errors }).errors?.[0]?.message).toBe(message);
});
