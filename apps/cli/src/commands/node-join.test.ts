import { describe, expect, test } from '@jest/globals';
import { startLines } from './node-join.js';

const GUESS = 'http://127.0.0.1:7400/api/v1';
const made = (apiUrl: string | null) => ({ token: 'hfj_secret.6c1f', apiUrl });

describe('below a join token', () => {
  test('stands the command that starts the agent, with the address that the API knows', () => {
    const options = { way: 'shell', node: 'node-7', host: '10.0.0.17', zone: 'zone-b' } as const;
    expect(startLines(options, made('http://10.0.0.5:7400/api/v1'), GUESS).join('\n')).toBe(`
On the new machine, in the folder that Holdfast was built in:
HOLDFAST_API_URL=http://10.0.0.5:7400/api/v1 \\
HOLDFAST_NODE_NAME=node-7 \\
HOLDFAST_ZONE=zone-b \\
HOLDFAST_ADVERTISE_HOST=10.0.0.17 \\
HOLDFAST_BIND_HOST=0.0.0.0 \\
HOLDFAST_CONTROL_PORT=7410 \\
HOLDFAST_NBD_PORT=7420 \\
HOLDFAST_DISKS=/var/lib/holdfast/disks \\
HOLDFAST_DISK_SIZE=100Gi \\
HOLDFAST_STATE_DIR=/var/lib/holdfast/state \\
HOLDFAST_AGENT_TOKEN=hfj_secret.6c1f \\
node apps/agent/dist/main.js`);
  });

  test('is said what has to be put in, and which address is a guess', () => {
    const lines = startLines({ way: 'systemd' }, made(null), GUESS);
    expect(lines.slice(-2)).toEqual([
      "Put the node's own in place of NODE_NAME and NODE_ADDRESS.",
      `${GUESS} is a guess: the API does not know where nodes reach it. Put the right address in its place, or set HOLDFAST_API_URL for the API.`,
    ]);
    expect(lines.join('\n')).toContain(`HOLDFAST_API_URL=${GUESS}\n`);
  });

  test('stands for compose neither an address of the node nor a guess, as its file has its own', () => {
    const lines = startLines({ way: 'compose', node: 'node-7' }, made(null), GUESS);
    expect(lines.join('\n')).not.toMatch(/NODE_ADDRESS|guess/);
    expect(lines.at(-1)).toContain('up -d agent-node-7');
  });
});
