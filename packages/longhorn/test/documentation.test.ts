/** docs/longhorn-inspect.schema.json is made of what reports are checked by, and docs/longhorn-inspect.md names each finding. */
import fs from 'node:fs';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { reportSchema } from '../src/inspection/report.js';
import { SIGNATURES } from '../src/signatures/scan.js';

const inRepository = (file: string) => new URL(`../../../${file}`, import.meta.url);

/** `npm run docs` writes it anew, by this variable. */
test('the JSON schema is made of the form of a report', () => {
  const file = inRepository('docs/longhorn-inspect.schema.json');
  const wanted = `${JSON.stringify(z.toJSONSchema(reportSchema), null, 2)}\n`;
  if (process.env.HOLDFAST_WRITE_SCHEMA === '1') fs.writeFileSync(file, wanted);
  expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toEqual(JSON.parse(wanted));
});

test('the page names each code that a finding may have, and no other', () => {
  const sources = ['inspection/disk-truths', 'inspection/volume-truths', 'alerts/lint-alerts'].map((name) =>
    fs.readFileSync(inRepository(`packages/longhorn/src/${name}.ts`), 'utf8'),
  );
  const codes = (text: string) =>
    new Set(
      [...text.matchAll(/['`]((?:disk|replica|volume|engine|alert)\.[a-z-]+)['`]/g)].map(([, code]) => code),
    );
  const page = fs.readFileSync(inRepository('docs/longhorn-inspect.md'), 'utf8');
  expect([...codes(page)].sort()).toEqual([...codes(sources.join('\n'))].sort());
});

test('the page of known failures is written from their table', () => {
  const file = inRepository('docs/longhorn-signatures.md');
  if (process.env.HOLDFAST_WRITE_SCHEMA === '1') fs.writeFileSync(file, signaturesPage());
  expect(fs.readFileSync(file, 'utf8')).toBe(signaturesPage());
});

function signaturesPage(): string {
  const rows = SIGNATURES.map(
    ({ number, name, title, severity, isSuspect, releases, advice, source }) =>
      `| ${number} | \`${name}\` | ${title} | ${severity}${isSuspect === true ? ', suspected' : ''} | ${releases.join(', ') || 'all'} | ${advice} | ${source} |`,
  );
  return `# Known failures of Longhorn

\`holdfast longhorn inspect\` ([its page](longhorn-inspect.md)) looks for these in objects, logs and events. A failure is told if the cluster's release has it, or if the
release is not known. This page is written from the tables in \`packages/longhorn/src/signatures\` by \`npm run docs\`.

| number | name | what | severity | releases | advice | source |
|---|---|---|---|---|---|---|
${rows.join('\n')}
`;
}
