/** Names of what entries of the audit log are about and of who acted, instead of their ids. */
import type { AuditEntry } from '../api/types';
import { beginningOf } from '../short-id';

export type NamedThing = { readonly kind: string; readonly id: string };
/** By kind and id. */
export type KnownNames = ReadonlyMap<string, string>;

export function keyOf({ kind, id }: NamedThing): string {
  return `${kind} ${id}`;
}

export type NamedEntry = Pick<AuditEntry, 'actor' | 'target' | 'before' | 'after'>;

/** `volume pg-data`; the name in the entry itself is the one at that time, also of a deleted object. */
export function targetWords({ target, before, after }: NamedEntry, names: KnownNames): string {
  const name = nameIn(after) ?? nameIn(before) ?? names.get(keyOf(target));
  if (name !== undefined) return `${target.kind} ${name}`;
  return isId(target.id) ? `${target.kind} ${beginningOf(target.id)}` : `${target.kind} ${target.id}`.trim();
}

const WAYS: Readonly<Record<string, string>> = { session: 'in a browser or the CLI', api: 'by a token' };

/** `Ada by a token`: who, and by which kind of credential. */
export function actorWords({ actor }: NamedEntry, names: KnownNames): string {
  const [kind = '', credential = ''] = actor.kind.split('/');
  const name = names.get(keyOf({ kind: 'user', id: actor.id }));
  const who = name ?? (actor.id === '' ? kind : `${kind} ${beginningOf(actor.id)}`);
  const way = WAYS[credential];
  return way === undefined ? who : `${who} ${way}`;
}

function nameIn(fields: AuditEntry['before']): string | undefined {
  const name: unknown = fields !== null && 'name' in fields ? fields.name : undefined;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(text);
}
