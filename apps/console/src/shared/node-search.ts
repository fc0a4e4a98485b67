/** Search for nodes by the beginning of a name, of a zone's name or of a tag, as a filter of the API. */
import type { Zone } from '../api/types';

/** Marks of the filter's grammar: names have none of them. */
const NOT_IN_NAMES = /[^\p{L}\p{N}._-]/gu;

/** @returns an empty filter for a text without letters or digits: it finds all */
export function nodeSearch(text: string): string {
  const beginning = text.replace(NOT_IN_NAMES, '');
  return beginning === '' ? '' : `name=${beginning}* OR zone=${beginning}* OR tags=${beginning}*`;
}

/** Filter for the nodes of a zone; those without a label have empty ones there. */
export function nodesIn({ zone, region }: Pick<Zone, 'zone' | 'region'>): string {
  return `zone="${zone ?? ''}" AND region="${region ?? ''}"`;
}
