import { describe, expect, test } from '@jest/globals';
import { isAllowedReceiver } from './receiver-address.js';

describe('isAllowedReceiver', () => {
  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '2002:7f00:1::',
    '2001:db8::1',
    'localhost',
    '',
  ])('%s is refused', (address) => {
    expect(isAllowedReceiver(address, [])).toBe(false);
  });

  test.each(['1.1.1.1', '172.32.0.1', '2606:4700:4700::1111'])('%s is public', (address) => {
    expect(isAllowedReceiver(address, [])).toBe(true);
  });

  test('networks that the operator names are allowed, and no others', () => {
    const networks = ['10.0.0.0/8', 'fd00::/8'];
    const asked = ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::1', '192.168.1.1', '127.0.0.1'];
    expect(asked.map((address) => isAllowedReceiver(address, networks))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});
