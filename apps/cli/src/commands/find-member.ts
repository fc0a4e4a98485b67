import { bodyOf, itemsOf } from '../api.js';
import type { Context } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';
import type { Member } from '../types.js';

/** @throws CliError when no member has that e-mail address or id */
export async function findMember(context: Context, emailOrId: string): Promise<Member> {
  if (!emailOrId.includes('@')) {
    const path = { userId: emailOrId };
    return bodyOf(context.api.GET('/members/{userId}', { params: { path } }));
  }
  const filter = `email="${emailOrId.toLowerCase().replaceAll('"', '')}"`;
  const [found] = await itemsOf((query) =>
    context.api.GET('/members', { params: { query: { ...query, filter } } }),
  );
  if (found === undefined) throw new CliError(EXIT.notFound, `there is no member ${emailOrId}`);
  return found;
}
