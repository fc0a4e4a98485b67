import { describe, expect, test } from '@jest/globals';
import {
  EVERYTHING,
  isNothing,
  isSelected,
  NOTHING,
  readSelection,
  SELECTED_MAX,
  type Selection,
  selectionOf,
  toggled,
  writeSelection,
} from './selection';

const idOf = (n: number) => `01a1fd5b-0000-7000-8000-${String(n).padStart(12, '0')}`;
const ids = (count: number) => Array.from({ length: count }, (_, n) => idOf(n));

function written(selection: Selection): string {
  const params = new URLSearchParams();
  writeSelection(params, selection);
  return decodeURIComponent(params.toString());
}

describe('a selection', () => {
  test('takes a volume in, and lets it go again', () => {
    const one = toggled(NOTHING, idOf(1));
    expect([isSelected(one, idOf(1)), isSelected(one, idOf(2))]).toEqual([true, false]);
    expect(isNothing(toggled(one, idOf(1)))).toBe(true);
  });

  test('of all that match leaves single ones out', () => {
    const but = toggled(EVERYTHING, idOf(1));
    expect([isSelected(but, idOf(1)), isSelected(but, idOf(2)), isNothing(but)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test('has room for so many, and stays as it was with one more', () => {
    const full = selectionOf(ids(SELECTED_MAX + 5));
    expect(full.ids.size).toBe(SELECTED_MAX);
    expect(toggled(full, idOf(SELECTED_MAX + 1))).toBe(full);
    expect(toggled(full, idOf(0)).ids.size).toBe(SELECTED_MAX - 1);
  });

  test.each<[string, Selection, string]>([
    ['none', NOTHING, ''],
    ['two', selectionOf(ids(2)), `selected=${idOf(0)},${idOf(1)}`],
    ['all', EVERYTHING, 'selected=all'],
    ['all but one', toggled(EVERYTHING, idOf(1)), `selected=all&but=${idOf(1)}`],
  ])('of %s is written to the address and read from it alike', (_, selection, text) => {
    expect(written(selection)).toBe(text);
    expect(readSelection(new URLSearchParams(text))).toEqual(selection);
  });

  test.each(['selected=none', 'selected=1,2', `but=${idOf(1)}`, "selected=' OR 1=1"])(
    'is none where it can not be read: %j',
    (text) => {
      expect(isNothing(readSelection(new URLSearchParams(text)))).toBe(true);
    },
  );

  test('that is too long is read up to the bound', () => {
    const text = `selected=${ids(SELECTED_MAX * 2).join()}`;
    expect(readSelection(new URLSearchParams(text)).ids.size).toBe(SELECTED_MAX);
  });
});
