import fs from 'node:fs';
import { connectNbd, pattern } from './src/nbd-workload.ts';
const l = JSON.parse(fs.readFileSync('/tmp/console-home/local.json','utf8'));
const call = async (m: string, p: string, body?: unknown) => { const r = await fetch(l.apiUrl + p, { method: m, headers: { authorization: `Bearer ${l.token}`, 'content-type': 'application/json' }, ...(body?{body:JSON.stringify(body)}:{}) }); const t = await r.text(); if (!r.ok) console.log(m,p,r.status,t.slice(0,200)); return t?JSON.parse(t):undefined; };
const c = `/clusters/${l.clusterId}`;
const { items } = await call('GET', `${c}/volumes?limit=200&sort=name`);
const mine = items.slice(0, 24);
for (const v of mine) if (v.state === 'detached') await call('POST', `${c}/volumes/${v.id}/attach`, {});
await new Promise((r) => setTimeout(r, 15000));
const end = Date.now() + Number(process.argv[2] ?? 60) * 1000;
const list = (await call('GET', `${c}/volumes?limit=200&sort=name&filter=state=attached`)).items;
console.log('attached', list.length);
const clients = [];
for (const v of list) { try { clients.push(await connectNbd(v.endpoint.nbdUri)); } catch (e) { console.log(String(e)); } }
let i = 0;
while (Date.now() < end) { for (const cl of clients) await cl.write((i % 3000) * 4096, [pattern(i + 1, 4096)], 4096, { fua: false }); i += 1; await new Promise((r) => setTimeout(r, 100)); }
process.exit(0);
