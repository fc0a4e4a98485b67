/** A user as the maker of something, in as many words as a column has room for. */
import { beginningOf } from '../short-id';

type Named = { readonly userId: string; readonly name: string };

/** @param id null: the installation made it, or a former member */
export function makerWords(
  id: string | null,
  members: readonly Named[] | undefined,
  self: Named | undefined,
): string {
  if (id === null) return 'no member';
  if (id === self?.userId) return `${self.name} (you)`;
  return members?.find(({ userId }) => userId === id)?.name ?? `user ${beginningOf(id)}`;
}
