import fs from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';

/**
 * The OpenAPI document as clients have it, in the shape that a test reads of it. That the sources make the same document is tested in
 * openapi.test.ts.
 */
export function openApiDocument<Shape>(): Shape {
  const file = path.join(repositoryRoot, 'packages/api-client/openapi.json');
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}
