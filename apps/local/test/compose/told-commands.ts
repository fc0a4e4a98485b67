/** Commands that docs/OPERATIONS.md tells operators to type, so that a test runs them as they are written there. */
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('../../../../docs/OPERATIONS.md', import.meta.url));

/**
 * Lines behind a prompt in a chapter, up to the next heading of any depth.
 *
 * @throws Error when there is no such chapter, or no command in it
 */
export function commandsTold(chapter: string): string[] {
  const [, ...rest] = fs.readFileSync(page, 'utf8').split(/^#{2,} (?=.*$)/m);
  const text = rest.find((part) => part.startsWith(`${chapter}\n`)) ?? '';
  const commands = [...text.matchAll(/^\$ (.*)$/gm)].map(([, line = '']) => line);
  if (commands.length === 0) throw new Error(`docs/OPERATIONS.md tells no command under "${chapter}"`);
  return commands;
}
