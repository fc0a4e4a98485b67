// Generates the client's types from the checked-in OpenAPI document.
import fs from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

const DRY_RUN = 'application/vnd.holdfast.dry-run+json';
const document = new URL('openapi.json', import.meta.url);
const output = new URL('src/generated/schema.ts', import.meta.url);

const header =
  '// Made from openapi.json by `pnpm --filter @holdfast/api-client generate`. Do not change it by hand.\n';
const types = astToString(await openapiTS(withoutDryRuns(JSON.parse(fs.readFileSync(document, 'utf8')))));
fs.mkdirSync(new URL('.', output), { recursive: true });
fs.writeFileSync(output, header + types);

/**
 * The document without the answers of dry runs. They have a media type of their own, which the types can't tell apart: every
 * answer would be one or the other. A client that asks for a dry run reads its answer as the schema `DryRun`.
 */
function withoutDryRuns(api) {
  for (const operation of Object.values(api.paths).flatMap((methods) => Object.values(methods))) {
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (content === undefined || !(DRY_RUN in content)) continue;
      delete content[DRY_RUN];
      if (Object.keys(content).length === 0) delete operation.responses[status];
    }
  }
  return api;
}
