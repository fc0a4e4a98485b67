/** Requests of a page that a test holds on their way. */
import type { Locator, Page } from 'playwright-core';

/** Holds what waits for it until it is opened. */
export function aGate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/**
 * Has a user repeat a panel's failed request. The console does so too after a cut: its requests of this kind are held until the
 * click, since an answer takes the button away.
 */
export async function tryAgain(page: Page, panel: Locator, asks: RegExp): Promise<void> {
  const click = aGate();
  await page.route(asks, async (route) => {
    await click.opened;
    await route.continue();
  });
  await panel.getByRole('button', { name: 'Try again' }).click();
  click.open();
}
