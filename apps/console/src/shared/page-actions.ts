/** Actions of the page that is shown, as the command menu offers them: the buttons of its head, with the reasons of those that can't act. */

export const PAGE_ACTIONS = 'data-page-actions';

export type PageAction = {
  readonly label: string;
  /** Why it can't be taken now. */
  readonly why: string | undefined;
  readonly run: () => void;
};

/** Read when the menu opens: whatever page is shown, its actions are there under the names that it gives them. */
export function readPageActions(root: ParentNode): PageAction[] {
  const buttons = root.querySelectorAll<HTMLButtonElement>(`[${PAGE_ACTIONS}] button`);
  return [...buttons].flatMap((button) => {
    const label = button.getAttribute('aria-label') ?? button.textContent?.trim() ?? '';
    if (label === '') return [];
    const isBlocked = button.getAttribute('aria-disabled') === 'true';
    return [{ label, why: isBlocked ? button.title : undefined, run: () => button.click() }];
  });
}
