import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { RepositoryKeys } from './keys.js';
import { openObject, sealObject } from './sealed-object.js';

const dataKey = randomBytes(32);
const keys = new RepositoryKeys(dataKey, 'a'.repeat(32));
const sealed = sealObject(keys, 'data/one', Buffer.from('content'));
const refused = expect.objectContaining({ code: 'backup.damaged' });

test('an object opens under its own name, in its own repository', () => {
  expect(openObject(keys, 'data/one', sealed).toString()).toBe('content');
  expect(() => openObject(keys, 'data/two', sealed)).toThrow(refused);
  const other = new RepositoryKeys(dataKey, 'b'.repeat(32));
  expect(() => openObject(other, 'data/one', sealed)).toThrow(refused);
});

test('a changed or cut object does not open, wherever that is', () => {
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(at) ^ 0x80, at);
    expect(() => openObject(keys, 'data/one', changed)).toThrow(refused);
    expect(() => openObject(keys, 'data/one', sealed.subarray(0, at))).toThrow(refused);
  }
});
