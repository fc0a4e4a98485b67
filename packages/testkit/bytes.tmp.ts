import { page, b, ids, local, ctx } from './look.tmp.ts';
const at = process.argv[2] ?? '/volumes';
const cdp = await ctx.newCDPSession(page);
await cdp.send('Network.enable');
const urls = new Map<string, { url: string; bytes: number }>();
let on = false;
cdp.on('Network.requestWillBeSent', (e: any) => urls.set(e.requestId, { url: e.request.url.replace(/^http:\/\/[^/]+\/api\/v1/, '').replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').slice(0, 90), bytes: 0 }));
cdp.on('Network.dataReceived', (e: any) => { if (on) { const u = urls.get(e.requestId) ?? { url: '?', bytes: 0 }; u.bytes += e.dataLength; urls.set(e.requestId, u); } });
await page.goto(local.consoleUrl + at); await page.getByRole('heading', { level: 1 }).waitFor(); await page.waitForTimeout(4000);
on = true; await page.waitForTimeout(8000); on = false;
const sum = new Map<string, [number, number]>();
for (const { url, bytes } of urls.values()) if (bytes > 0) { const s = sum.get(url) ?? [0, 0]; sum.set(url, [s[0] + bytes, s[1] + 1]); }
let total = 0; for (const [u, [n, c]] of [...sum].sort((x, y) => y[1][0] - x[1][0])) { total += n; console.log(n, c, u); }
console.log(at, 'total', total);
await b.close();
