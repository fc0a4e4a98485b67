import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { ORGANIZATION_PLACES } from '../shared/places';
import { tabQuestion } from './tab-question';

const document: unknown = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, '../../../../packages/api-client/openapi.json'), 'utf8'),
);

const addresses = [
  ...ORGANIZATION_PLACES.map(({ href }) => href),
  '/organization/projects/p',
  '/organization/webhooks/w',
];

test.each(addresses)('%s asks a question that the API has', (address) => {
  const found = tabQuestion(address, 'o');
  const asked = `/api/v1${found?.question.path ?? ''}`
    .replace(/\/organizations\/o\//, '/organizations/{organizationId}/')
    .replace(/\/projects\/p$/, '/projects/{projectId}')
    .replace(/\/webhooks\/w$/, '/webhooks/{webhookId}');
  expect(document).toHaveProperty(['paths', asked, 'get']);
});

test('a page without a question of its own has none', () => {
  expect(tabQuestion('/volumes', 'o')).toBeUndefined();
});
