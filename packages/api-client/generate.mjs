// Generates the client's types, and the table of what writes do, from the checked-in OpenAPI document.
import fs from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

const ON_DEMAND = ['application/vnd.holdfast.dry-run+json', 'application/vnd.holdfast.operation+json'];
const document = new URL('openapi.json', import.meta.url);
const output = new URL('src/generated/schema.ts', import.meta.url);

const header =
  '// Made from openapi.json by `pnpm --filter @holdfast/api-client generate`. Do not change it by hand.\n';
const api = JSON.parse(fs.readFileSync(document, 'utf8'));
const summaries = summariesOf(api);
const types = astToString(await openapiTS(withoutAnswersOnDemand(api)));
fs.mkdirSync(new URL('.', output), { recursive: true });
fs.writeFileSync(output, header + types);
fs.writeFileSync(
  new URL('src/generated/summaries.ts', import.meta.url),
  `${header}/** Summary of each writing route, by its name in the audit log. */
export const SUMMARIES: Readonly<Record<string, string>> = ${JSON.stringify(summaries, null, 2)};\n`,
);

/** Summaries by method and route as the audit log has them, such as `PATCH /api/v1/projects/:projectId`; without their second clauses. */
function summariesOf({ paths }) {
  const writes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'get')
      .map(([method, { summary }]) => [
        `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
        summary.split(/; |: |, w(?:hich|ith) |\. /)[0],
      ]),
  );
  return Object.fromEntries(writes);
}

/**
 * The document without the answers of dry runs and of `Prefer: wait`. They have media types of their own, which the types can't tell
 * apart: every answer would be one or the other. A client that requests them reads them as the schemas `DryRun` and `Operation`.
 */
function withoutAnswersOnDemand(api) {
  for (const operation of Object.values(api.paths).flatMap((methods) => Object.values(methods))) {
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (content === undefined || !ON_DEMAND.some((type) => type in content)) continue;
      for (const type of ON_DEMAND) delete content[type];
      if (Object.keys(content).length === 0) delete operation.responses[status];
    }
  }
  return api;
}
