import { type Column, Table } from '@holdfast/ui/table.js';
import { expect, test } from '@jest/globals';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

type Row = { readonly name: string };
const COLUMNS: Column<Row>[] = [
  { header: 'Name', cell: ({ name }) => name },
  { header: 'Size', isWide: true, cell: () => '1 GiB' },
  { header: 'Actions', isHeaderHidden: true, cell: () => 'Change…' },
];

function drawn(onPhone: 'cards' | 'lines'): string {
  const props = { label: 'Disks', rows: [{ name: 'disk-1' }], columns: COLUMNS, empty: null, onPhone };
  return renderToStaticMarkup(createElement(Table<Row>, { ...props, rowKey: ({ name }) => name }));
}

/** The opening tag of the cell with this text. */
const cellOf = (html: string, text: string) => new RegExp(`<td[^>]*>${text}`).exec(html)?.[0] ?? '';

test('a column of buttons has a name that is read out and not drawn', () => {
  expect(drawn('cards')).toContain('<span class="sr-only">Actions</span>');
  expect(cellOf(drawn('cards'), 'Change…')).toContain('data-label=""');
});

test('a line of a phone leaves out what is wide, and a card names it', () => {
  expect(cellOf(drawn('lines'), '1 GiB')).toContain('max-sm:hidden!');
  expect(cellOf(drawn('lines'), 'disk-1')).not.toContain('max-sm:hidden!');
  expect(cellOf(drawn('cards'), '1 GiB')).not.toContain('max-sm:hidden!');
});
