import { expect, test } from '@jest/globals';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { NoneFound } from './none-found';

function shown(isPlaceholderData: boolean): string {
  return renderToStaticMarkup(
    createElement(NoneFound, { query: { isPlaceholderData }, rows: 2 }, 'No such node'),
  );
}

test('a search says that nothing was found once it has its own answer, and not on the one before', () => {
  expect(shown(false)).toBe('No such node');
  expect(shown(true)).not.toContain('No such node');
  expect(shown(true)).toContain('aria-label="Loading"');
});
