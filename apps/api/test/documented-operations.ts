/** The operations of the OpenAPI document, with the codes that each says it may refuse with. */
import { openApiDocument } from './openapi-document.js';

export type DocumentedOperation = {
  /** Method and path, as people write them. */
  name: string;
  method: string;
  path: string;
  isPublic: boolean;
  isAgents: boolean;
  /** The document's example of a body; undefined where the operation takes none. */
  body: object | undefined;
  refusals: ReadonlyMap<number, ReadonlySet<string>>;
};

type Response = {
  content?: Record<string, { schema: { allOf?: { properties?: { code?: { enum: string[] } } }[] } }>;
};
type Operation = {
  security?: unknown[];
  requestBody?: { content: { 'application/json': { example?: object } } };
  responses: Record<string, Response | { $ref: string }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response> };
};

export function documentedOperations(): DocumentedOperation[] {
  const document = openApiDocument<Document>();
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method,
      path,
      isPublic: operation.security?.length === 0,
      isAgents: path.startsWith('/api/v1/agent/'),
      body: operation.requestBody && (operation.requestBody.content['application/json'].example ?? {}),
      refusals: refusalsOf(operation, document),
    })),
  );
}

function refusalsOf(
  { responses }: Operation,
  { components }: Document,
): ReadonlyMap<number, ReadonlySet<string>> {
  return new Map(
    Object.entries(responses).flatMap(([status, response]) => {
      const found = '$ref' in response ? components.responses[nameIn(response.$ref)] : response;
      const parts = found?.content?.['application/problem+json']?.schema.allOf ?? [];
      const codes = parts.flatMap(({ properties }) => properties?.code?.enum ?? []);
      return codes.length === 0 ? [] : [[Number(status), new Set(codes)] as const];
    }),
  );
}

function nameIn(reference: string): string {
  return reference.replace('#/components/responses/', '');
}

let known: readonly { pattern: RegExp; operation: DocumentedOperation }[] | undefined;

/**
 * The operation that answers a request; undefined for an address that is not in the document.
 *
 * @param url with or without a query
 */
function operationOf(method: string, url: string): DocumentedOperation | undefined {
  known ??= documentedOperations()
    .map((operation) => ({ operation, pattern: patternOf(operation.path) }))
    // As the router does: words before parameters (`…/snapshots/purge` before `…/snapshots/{snapshotId}`).
    .sort((a, b) => parametersIn(a.operation) - parametersIn(b.operation));
  const [path = ''] = url.split('?');
  const found = known.find(
    ({ operation, pattern }) => operation.method === method.toLowerCase() && pattern.test(path),
  );
  return found?.operation;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
}

function parametersIn({ path }: DocumentedOperation): number {
  return path.split('{').length;
}

/** @throws Error when an answer is a refusal that its operation does not name in the document */
export function assertDeclared(
  request: { method: string; url: string },
  answer: { status: number; body: object },
) {
  const { status, body } = answer;
  const operation = operationOf(request.method, request.url);
  if (operation === undefined || status < 400 || !('code' in body)) return;
  if (operation.refusals.get(status)?.has(String(body.code)) === true) return;
  throw new Error(
    `${operation.name} refused with ${status} ${String(body.code)}, which its @Route does not name in \`refuses\``,
  );
}
