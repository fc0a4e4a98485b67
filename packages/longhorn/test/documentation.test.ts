/** docs/longhorn-inspect.schema.json is made of what reports are checked by, and docs/longhorn-inspect.md names each finding. */
import fs from 'node:fs';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { reportSchema } from '../src/inspection/report.js';

const inRepository = (file: string) => new URL(`../../../${file}`, import.meta.url);

/** `npm run docs` writes it anew, by this variable. */
test('the JSON schema is made of the form of a report', () => {
  const file = inRepository('docs/longhorn-inspect.schema.json');
  const wanted = `${JSON.stringify(z.toJSONSchema(reportSchema), null, 2)}\n`;
  if (process.env.HOLDFAST_WRITE_SCHEMA === '1') fs.writeFileSync(file, wanted);
  expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toEqual(JSON.parse(wanted));
});

test('the page names each code that a finding may have, and no other', () => {
  const sources = ['disk-truths', 'volume-truths'].map((name) =>
    fs.readFileSync(inRepository(`packages/longhorn/src/inspection/${name}.ts`), 'utf8'),
  );
  const codes = (text: string) =>
    new Set([...text.matchAll(/['`]((?:disk|replica|volume|engine)\.[a-z-]+)['`]/g)].map(([, code]) => code));
  const page = fs.readFileSync(inRepository('docs/longhorn-inspect.md'), 'utf8');
  expect([...codes(page)].sort()).toEqual([...codes(sources.join('\n'))].sort());
});
