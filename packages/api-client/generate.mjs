// Generates the client's types from the checked-in OpenAPI document.
import fs from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

const document = new URL('openapi.json', import.meta.url);
const output = new URL('src/generated/schema.ts', import.meta.url);

const header =
  '// Made from openapi.json by `pnpm --filter @holdfast/api-client generate`. Do not change it by hand.\n';
const types = astToString(await openapiTS(document));
fs.mkdirSync(new URL('.', output), { recursive: true });
fs.writeFileSync(output, header + types);
