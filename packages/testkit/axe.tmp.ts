import { page, b, ids, local, accessibilityProblems, consoleRoutes } from './look.tmp.ts';
const only = process.argv[2];
for (const [name, size] of [['desk', { width: 1360, height: 900 }], ['phone', { width: 390, height: 844 }]] as const) {
  await page.setViewportSize(size);
  for (const route of consoleRoutes()) {
    const at = route.replace(/\[(\w+)\]/g, (_: string, n: string) => ids[n] ?? n);
    if (at.includes('undefined') || (only && !new RegExp(only).test(route))) continue;
    await page.goto(local.consoleUrl + at); await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
    await page.waitForTimeout(300);
    const h = await page.evaluate('document.documentElement.scrollHeight');
    const w = await page.evaluate('document.documentElement.scrollWidth');
    const problems = await accessibilityProblems(page);
    await page.screenshot({ path: `/tmp/console-look/${name}${route.replaceAll('/', '-')}.png`, fullPage: true });
    console.log(name, route, `${w}x${h}`, problems.length ? problems : 'ok');
  }
}
await b.close();
