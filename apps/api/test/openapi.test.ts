import fs from 'node:fs';
import { expect, test } from '@jest/globals';
import { CONTROLLERS } from '../src/app/app.module.js';
import { openApiDocument } from '../src/openapi/openapi.js';

const CHECKED_IN = new URL('../../../packages/api-client/openapi.json', import.meta.url);

test('the checked-in document is current; else run `npm run openapi`', () => {
  const current = JSON.parse(JSON.stringify(openApiDocument(CONTROLLERS)));
  expect(JSON.parse(fs.readFileSync(CHECKED_IN, 'utf8'))).toEqual(current);
});

test('every reference in it leads somewhere, and every operation has its own name', () => {
  const text = JSON.stringify(openApiDocument(CONTROLLERS));
  const document = JSON.parse(text);
  const references = new Set(
    [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name),
  );
  for (const name of references) expect(Object.keys(document.components.schemas)).toContain(name);
  const names = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, name]) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(document.openapi).toBe('3.1.0');
});
