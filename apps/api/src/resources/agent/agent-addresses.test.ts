import { isFault } from '@holdfast/core/model/faults.js';
import { aHeartbeat } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import { AgentAddresses, canonical } from './agent-addresses.js';

const NAMES: Record<string, string[]> = {
  'agent-1': ['10.0.0.1'],
  'two-homes': ['10.0.0.1', '169.254.169.254'],
  'metadata.internal': ['169.254.169.254'],
};

async function outcome(
  host: string,
  part: { from?: string; networks?: string[]; nbdHost?: string } = {},
): Promise<string> {
  const addresses = new AgentAddresses(part.networks ?? [], async (name) => NAMES[name] ?? []);
  const node = { controlUrl: `http://${host}:7410`, nbdHost: part.nbdHost ?? '10.0.0.1' };
  try {
    const { node: checked } = await addresses.checked(
      aHeartbeat('node-1', { node }),
      part.from ?? '10.0.0.1',
    );
    return checked.controlUrl;
  } catch (error) {
    if (isFault(error)) return error.code;
    throw error;
  }
}

describe('the address of an agent', () => {
  test.each<{ name: string; host: string; part?: Parameters<typeof outcome>[1]; want: string }>([
    { name: 'is the one it comes from', host: '10.0.0.1', want: 'http://10.0.0.1:7410' },
    { name: 'is a name that stands for it', host: 'agent-1', want: 'http://10.0.0.1:7410' },
    { name: 'is not that of another machine', host: '10.0.0.2', want: 'node.address_refused' },
    { name: 'is not one of many services on this machine', host: '127.0.0.1', want: 'node.address_refused' },
    { name: 'is no name of another machine', host: 'metadata.internal', want: 'node.address_refused' },
    {
      name: 'is no name that stands for another machine too',
      host: 'two-homes',
      want: 'node.address_refused',
    },
    { name: 'is no name that nothing is known of', host: 'nowhere', want: 'node.address_refused' },
    {
      name: 'may be in a network that is allowed',
      host: '10.0.9.9',
      part: { networks: ['10.0.9.0/24'] },
      want: 'http://10.0.9.9:7410',
    },
    {
      name: 'is the same when the socket maps it into IPv6',
      host: '10.0.0.1',
      part: { from: '::ffff:10.0.0.1' },
      want: 'http://10.0.0.1:7410',
    },
    {
      name: 'is the same when the agent maps it into IPv6',
      host: '[::ffff:a00:1]',
      want: 'http://10.0.0.1:7410',
    },
    {
      name: 'is not hidden by mapping it into IPv6',
      host: '[::ffff:169.254.169.254]',
      want: 'node.address_refused',
    },
    {
      name: 'may be another one of the loopback, for agents on this machine',
      host: '127.0.0.1',
      part: { from: '::1', nbdHost: '127.0.0.2' },
      want: 'http://127.0.0.1:7410',
    },
    {
      name: 'is checked for users too, who are sent there',
      host: '10.0.0.1',
      part: { nbdHost: '10.0.0.2' },
      want: 'node.address_refused',
    },
  ])('$name', async ({ host, part, want }) => {
    expect(await outcome(host, part)).toBe(want);
  });

  test.each([
    ['::FFFF:1.2.3.4', '1.2.3.4'],
    ['::ffff:0102:0304', '1.2.3.4'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['1.2.3.4', '1.2.3.4'],
  ])('%s is written as %s', (address, want) => {
    expect(canonical(address)).toBe(want);
  });
});
