import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { apiAddress, composeFile, type JoinPlan, joinCommand, wrongWithPlan } from './join-commands.js';

const PLAN: JoinPlan = {
  nodeName: 'node-7',
  zone: 'zone-b',
  diskSize: '500Gi',
  apiUrl: 'http://10.0.0.5:7400/api/v1',
  host: '10.0.0.17',
  disks: '/mnt/one:/mnt/two',
  stateDir: '/var/lib/holdfast/state',
  controlPort: '7410',
  nbdPort: '7420',
};
const TOKEN = 'hfj_secret.6c1f';

describe('the commands that let a node join', () => {
  test('of systemd are the two files of the unit and its start', () => {
    expect(joinCommand('systemd', PLAN, TOKEN).split('\n')).toEqual([
      'sudo install -d -m 0750 -g holdfast /etc/holdfast',
      "sudo install -m 0640 -g holdfast /dev/stdin /etc/holdfast/agent.env <<'END'",
      'HOLDFAST_API_URL=http://10.0.0.5:7400/api/v1',
      'HOLDFAST_NODE_NAME=node-7',
      'HOLDFAST_ZONE=zone-b',
      'HOLDFAST_ADVERTISE_HOST=10.0.0.17',
      'HOLDFAST_BIND_HOST=0.0.0.0',
      'HOLDFAST_CONTROL_PORT=7410',
      'HOLDFAST_NBD_PORT=7420',
      'HOLDFAST_DISKS=/mnt/one:/mnt/two',
      'HOLDFAST_DISK_SIZE=500Gi',
      'HOLDFAST_STATE_DIR=/var/lib/holdfast/state',
      'HOLDFAST_AGENT_TOKEN_FILE=/etc/holdfast/join-token',
      'END',
      "sudo install -m 0640 -g holdfast /dev/stdin /etc/holdfast/join-token <<'END'",
      TOKEN,
      'END',
      'sudo systemctl enable --now holdfast-agent',
    ]);
  });

  test('of systemd name the variables of its example', () => {
    const example = read('infra/systemd/agent.env.example');
    const names = (text: string) => [...text.matchAll(/^(HOLDFAST_\w+)=/gm)].map(([, name]) => name).sort();
    expect(names(joinCommand('systemd', PLAN, TOKEN))).toEqual(names(example));
  });

  test('of compose add the service that the example adds', () => {
    const made = composeFile({ ...PLAN, nodeName: 'node-4', zone: 'zone-d', diskSize: '20Gi' });
    const example = read('infra/docker/another-node.yml')
      .replaceAll('agent-4', 'agent-node-4')
      // biome-ignore lint/suspicious/noTemplateCurlyInString: compose fills it in
      .replace('${HOLDFAST_DISK_SIZE:-20Gi}', '20Gi');
    expect(parse(made)).toEqual(parse(example));
  });

  test('of compose give the token to that start alone', () => {
    const command = joinCommand('compose', PLAN, TOKEN);
    expect(command.split(TOKEN)).toHaveLength(2);
    expect(command).toContain(
      `HOLDFAST_JOIN_TOKEN=${TOKEN} docker compose -f docker-compose.yml -f holdfast-node-7.yml up -d agent-node-7`,
    );
  });

  test('leave out a zone that is not given', () => {
    expect(joinCommand('shell', { ...PLAN, zone: '' }, TOKEN)).not.toContain('HOLDFAST_ZONE');
    expect(composeFile({ ...PLAN, zone: '' })).not.toContain('HOLDFAST_ZONE');
  });
});

test('the address of the API is the one that is given, else the one that the API knows, else a guess', () => {
  const guess = 'http://console.example:7400/api/v1';
  expect(apiAddress('http://10.0.0.5:7400/api/v1', 'http://api:1/api/v1', guess)).toEqual({
    url: 'http://10.0.0.5:7400/api/v1',
    from: 'user',
  });
  expect(apiAddress('', 'http://api:1/api/v1', guess)).toEqual({ url: 'http://api:1/api/v1', from: 'api' });
  expect(apiAddress('', null, guess)).toEqual({ url: guess, from: 'guess' });
});

describe('values', () => {
  test('that are fine are', () => {
    expect(wrongWithPlan(PLAN, 'systemd')).toEqual({});
    expect(wrongWithPlan({ ...PLAN, zone: '', host: '[fd00::7]', apiUrl: '' }, 'shell')).toEqual({});
  });

  test.each<[field: keyof JoinPlan, value: string]>([
    ['nodeName', ''],
    ['nodeName', 'Node 7'],
    ['nodeName', '$(reboot)'],
    ['zone', "a'; reboot"],
    ['diskSize', 'much'],
    ['apiUrl', '10.0.0.5'],
    ['apiUrl', 'http://a b'],
    ['host', ''],
    ['host', 'a`b`'],
    ['disks', 'mnt/one'],
    ['disks', '/mnt/one:'],
    ['stateDir', '/var/lib/$x'],
    ['controlPort', '70000'],
    ['nbdPort', '7410'],
  ])('of %s that a command can not hold are refused: %j', (field, value) => {
    expect(Object.keys(wrongWithPlan({ ...PLAN, [field]: value }, 'systemd'))).toContain(field);
  });

  test('that compose has its own for do not count there', () => {
    expect(wrongWithPlan({ ...PLAN, host: '', apiUrl: '', disks: '' }, 'compose')).toEqual({});
  });
});

function read(file: string): string {
  return fs.readFileSync(path.join(import.meta.dirname, '../../..', file), 'utf8');
}
