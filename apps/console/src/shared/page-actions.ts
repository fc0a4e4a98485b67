/** Actions of the page that is shown, as the command menu offers them: the buttons of its head, with the reasons of those that can't act. */

export const PAGE_ACTIONS = 'data-page-actions';

export type PageAction = {
  readonly label: string;
  /** Why it can't be taken now. */
  readonly why: string | undefined;
  readonly run: () => void;
};

/** Read when the menu opens: the actions of whatever page is shown, under the page's own names. */
export function readPageActions(root: ParentNode): PageAction[] {
  const buttons = root.querySelectorAll<HTMLButtonElement>(`[${PAGE_ACTIONS}] button`);
  return [...buttons].flatMap((button) => {
    const label = button.getAttribute('aria-label') ?? button.textContent?.trim() ?? '';
    if (label === '') return [];
    const isBlocked = button.getAttribute('aria-disabled') === 'true';
    return [{ label, why: isBlocked ? button.title : undefined, run: () => button.click() }];
  });
}

/** Data and rights arrive a moment after a page; a button that can't be pressed by then is reported as missing. */
const WAIT_MS = 10_000;
/** A button that can't act yet may only wait for its data. */
const SETTLE_MS = 2_000;
const LOOK_MS = 100;

/**
 * Presses a button of the target page, once it exists. The user's choice of just now requests that, never an address, so that no link
 * from elsewhere can act.
 *
 * @param href of the page, whose query does not count
 * @param tell receives the reason if it could not be pressed
 */
export function pressWhenThere(href: string, label: string, tell: (why: string) => void): void {
  const [path] = href.split('?');
  const begun = performance.now();
  let blockedSince: number | undefined;
  const timer = setInterval(() => {
    const now = performance.now();
    const isThere = window.location.pathname === path;
    const button = isThere ? findButton(document, label) : undefined;
    const why = button?.getAttribute('aria-disabled') === 'true' ? button.title : undefined;
    if (button !== undefined && why === undefined) {
      clearInterval(timer);
      button.click();
      return;
    }
    if (why !== undefined) blockedSince ??= now;
    const isSettled = blockedSince !== undefined && now - blockedSince > SETTLE_MS;
    if (!isSettled && now - begun < WAIT_MS) return;
    clearInterval(timer);
    tell(why === undefined || why === '' ? `${label}: there is no such button now.` : why);
  }, LOOK_MS);
}

function findButton(root: ParentNode, label: string): HTMLButtonElement | undefined {
  const buttons = [...root.querySelectorAll<HTMLButtonElement>('main button')];
  return buttons.find(
    (button) => (button.getAttribute('aria-label') ?? button.textContent?.trim()) === label,
  );
}
