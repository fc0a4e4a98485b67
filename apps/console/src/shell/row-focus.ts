/** Steps of the focus through the rows of the list that is shown: to the first link of each, which opens it. */

const ROWS = '[data-row], main table tbody tr:not([aria-hidden])';

export function focusRow(step: 1 | -1): void {
  const links = rows().flatMap((row) => row.querySelector<HTMLElement>('a, button') ?? []);
  const at = links.findIndex((link) => link.closest(ROWS)?.contains(document.activeElement) === true);
  const next = at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step;
  links[next]?.focus();
  links[next]?.scrollIntoView({ block: 'nearest' });
}

/** Selects the row that has the focus, or the other way round, where rows can be selected. */
export function selectRow(): void {
  const row = document.activeElement?.closest(ROWS);
  row?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click();
}

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(ROWS)];
}
