import { isId } from '@holdfast/core/model/ids.js';
import { type Answer, bodyIfFound, itemsOf, type PageQuery } from './api.js';
import { CliError, EXIT } from './exit-codes.js';
import type { Page } from './types.js';

/** Requests for one object of a kind: by its id, and by a filter on the list of its kind. */
export type Finders<T> = {
  kind: string;
  byId: (id: string) => Promise<Answer<T>>;
  byFilter: (query: PageQuery & { filter: string }) => Promise<Answer<Page<T>>>;
};

/**
 * Names that a filter can hold: without quotes, because a value is quoted, and of sensible length. Names of volumes and nodes have at
 * most 63 characters.
 */
const FILTERABLE = /^[^"]{1,253}$/;

/**
 * Finds one object by its name or id, without reading the whole list.
 *
 * @throws CliError when there is none, and when several projects have one of that name
 */
export async function findNamed<T extends { id: string }>(nameOrId: string, finders: Finders<T>): Promise<T> {
  const { kind, byId, byFilter } = finders;
  // An object may have a name that looks like an id.
  const withId = isId(nameOrId) ? await bodyIfFound(byId(nameOrId)) : undefined;
  const filter = `name="${nameOrId}"`;
  const named = FILTERABLE.test(nameOrId) ? await itemsOf((query) => byFilter({ ...query, filter })) : [];
  const found = new Map([withId, ...named].flatMap((item) => (item === undefined ? [] : [[item.id, item]])));
  const [item, ...others] = found.values();
  if (item === undefined) throw new CliError(EXIT.notFound, `there is no ${kind} ${nameOrId}`);
  if (others.length > 0) {
    throw new CliError(EXIT.usage, `${nameOrId} names ${found.size} ${kind}s`, [
      `use an id: ${[...found.keys()].join(', ')}`,
    ]);
  }
  return item;
}
