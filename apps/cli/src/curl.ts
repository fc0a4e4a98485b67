/** A request as a curl command. The token stands as `$HOLDFAST_TOKEN`, so that the text may be kept and passed on. */

/** Headers that curl or the reader's own client adds. */
const OWN_HEADERS = new Set(['authorization', 'accept', 'user-agent']);

export async function curlText(request: Request): Promise<string> {
  const body = request.body === null ? '' : await request.text();
  const headers = [...request.headers].filter(([name]) => !OWN_HEADERS.has(name));
  const parts = [
    ...(request.method === 'GET' ? [] : ['-X', request.method]),
    quoted(request.url),
    '-H',
    '"Authorization: Bearer $HOLDFAST_TOKEN"',
    ...headers.flatMap(([name, value]) => ['-H', quoted(`${name}: ${value}`)]),
    ...(body === '' ? [] : ['--data-raw', quoted(body)]),
  ];
  return `curl -sS ${parts.join(' ')}`;
}

/** For a POSIX shell: nothing in single quotes is read, so a name of a tenant can't run anything. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
