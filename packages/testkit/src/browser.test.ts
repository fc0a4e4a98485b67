import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { accessibilityProblems, findBrowser, openBrowser } from './browser.js';

const executable = findBrowser();

// The console's tests expect that nothing is found, which is worth something only if faults are.
(executable === undefined ? describe.skip : describe)('what is found of a page', () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await openBrowser(executable ?? '');
    page = await browser.newPage();
  });
  afterAll(() => browser?.close());

  test.each([
    { fault: 'an image without a name', body: '<img src="data:,">', rule: 'image-alt' },
    { fault: 'a field without a label', body: '<input>', rule: 'label' },
    {
      fault: 'text that is too pale',
      body: '<p style="color: #bbb; background: #fff">pale</p>',
      rule: 'color-contrast',
    },
    {
      fault: 'a button whose name leaves out its words',
      body: '<button aria-label="Do it">Send again</button>',
      rule: 'label-content-name-mismatch',
    },
    {
      fault: 'a column without a name',
      body: '<table><tr><th>Name</th><th></th></tr><tr><td>a</td><td>b</td></tr></table>',
      rule: 'empty-table-header',
    },
  ])('$fault', async ({ body, rule }) => {
    await page.setContent(`<html lang="en"><title>Test</title><main>${body}</main></html>`);
    expect(await accessibilityProblems(page)).toEqual([expect.stringContaining(rule)]);
  });

  test('nothing, of a page without a fault or of a part without one', async () => {
    await page.setContent(
      '<html lang="en"><title>Test</title><main><h1>Fine</h1></main><div><input></div></html>',
    );
    expect(await accessibilityProblems(page, 'main')).toEqual([]);
  });
});
