import { asId, type OrganizationId, type TokenId } from '@holdfast/core/model/ids.js';
import { afterEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Databases } from '../../http/databases.js';
import { OpenStreams } from './open-streams.js';

const NOWHERE = 'postgres://nobody@127.0.0.1:1/none';
const LIMITS = { ofToken: 3, ofProcess: 8 };

const ROLES = { role: 'viewer', projectRoles: new Map(), secretHash: '' } as const;

let streams: OpenStreams | undefined;
afterEach(() => streams?.onApplicationShutdown());

/** Opens streams by the names of their tokens, of which the first letter is the organization; returns who was refused. */
function open(...names: string[]): string[] {
  const databases = new Databases({ databaseUrl: NOWHERE, databaseSystemUrl: NOWHERE });
  streams = new OpenStreams(databases, pino({ level: 'silent' }), LIMITS);
  const refused: string[] = [];
  for (const name of names) {
    const owner = {
      tokenId: asId<TokenId>(name),
      organizationId: asId<OrganizationId>(name.charAt(0)),
      ...ROLES,
    };
    try {
      streams.assertRoom(owner);
      streams.add(owner, { close: () => undefined });
    } catch {
      refused.push(name);
    }
  }
  return refused;
}

test('a token may have so many streams open', () => {
  expect(open('a1', 'a1', 'a1', 'a1', 'a2')).toEqual(['a1']);
});

test('an organization may have half of the streams open, and the next one half of those left', () => {
  expect(open('a1', 'a1', 'a2', 'a2', 'a3', 'b1', 'b1', 'b2', 'c1', 'd1')).toEqual(['a3', 'b2']);
});

test('a stream that ends makes room for another one', () => {
  expect(open('a1', 'a1', 'a2', 'a2')).toEqual([]);
  const owner = { tokenId: asId<TokenId>('b1'), organizationId: asId<OrganizationId>('b'), ...ROLES };
  const ended = { close: () => undefined };
  for (const stream of [ended, { close: () => undefined }]) streams?.add(owner, stream);
  expect(() => streams?.assertRoom(owner)).toThrow(/the organization has 2 event streams open/);
  streams?.remove(owner, ended);
  expect(() => streams?.assertRoom(owner)).not.toThrow();
});
