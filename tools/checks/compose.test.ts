import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { repositoryRoot, runTool } from './run-tool.js';

type Service = {
  command?: string[];
  profiles?: string[];
  healthcheck?: { test: string[] };
  build?: { dockerfile: string };
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  user?: string;
  environment?: Record<string, string>;
  networks?: string[] | Record<string, { aliases?: string[] } | null>;
  volumes?: string[];
};
type Compose = { services: Record<string, Service> };

/** The secrets that a start needs, and what is said where one is missing. */
const PASSWORDS = {
  HOLDFAST_DATABASE_API_PASSWORD: "set the api role's password",
  HOLDFAST_DATABASE_SYSTEM_PASSWORD: "set the system role's password",
  HOLDFAST_POSTGRES_PASSWORD: 'set a password for the database owner',
  HOLDFAST_REDIS_PASSWORD: 'set a password of letters and digits for Redis',
};
const hasCompose = spawnSync('docker-compose', ['version'], { stdio: 'ignore' }).status === 0;

const inRepository = (file: string) => path.join(repositoryRoot, file);
const composeText = fs.readFileSync(inRepository('docker-compose.yml'), 'utf8');
// The cast: the schema check below proves the shape that this type states.
const compose = parse(composeText, { merge: true }) as Compose;

/** The source of a file that the image makes by building: it must exist under the same name. */
function sourceOf(file: string): string {
  return file.replace(/\/dist\/(.*)\.js$/, '/src/$1.ts');
}

describe('docker-compose.yml', () => {
  let lint: ReturnType<typeof runTool>;
  beforeAll(() => {
    lint = runTool('dclint/bin/dclint.cjs', [
      '--formatter',
      'json',
      '--quiet',
      '--config',
      'tools/checks/dclint.json',
      'docker-compose.yml',
    ]);
  });

  test('is valid by the Compose specification', () => {
    expect({ exitCode: lint.exitCode, output: lint.exitCode === 0 ? '' : lint.output }).toEqual({
      exitCode: 0,
      output: '',
    });
  });

  test('has Postgres, Redis, a control plane of two processes each, three agents, and backups when they are asked for', () => {
    expect(Object.keys(compose.services).sort()).toEqual(
      [
        ...['agent-1', 'agent-2', 'agent-3', 'api-1', 'api-2', 'worker-1', 'worker-2'],
        ...['backup', 'certificates', 'console', 'gateway', 'postgres', 'prepare', 'redis'],
      ].sort(),
    );
    const asked = Object.entries(compose.services).filter(([, { profiles = [] }]) => profiles.length > 0);
    expect(asked.map(([name]) => name)).toEqual(['backup']);
  });

  test('reaches Postgres and Redis over TLS that is verified, and has no secret of its own', () => {
    const settings = Object.values(compose.services).flatMap(({ environment = {} }) =>
      Object.entries(environment),
    );
    const addresses = settings.filter(([name]) => /^(DATABASE_(SYSTEM_)?URL|REDIS_URL)$/.test(name));
    // Two for each API, two for each worker, and the owner's for the schema and for backups.
    expect(addresses).toHaveLength(10);
    for (const [, url] of addresses) {
      expect(url).toMatch(
        /^rediss:\/\/:\$\{\w+\}@|^postgresql:\/\/\w+:\$\{\w+\}@.*\?sslmode=verify-full&sslrootcert=/,
      );
    }
    const secrets = settings.filter(([name]) => /PASSWORD|SECRET|TOKEN$|REDISCLI_AUTH/.test(name));
    expect(secrets.length).toBeGreaterThan(5);
    for (const [, value] of secrets) expect(value).toMatch(/^\$\{\w+(:[-?].*)?\}$/);
    expect(compose.services.redis?.command?.join(' ')).toContain('--port 0 --tls-port 6379');
    const rules = fs.readFileSync(inRepository('infra/docker/pg_hba.conf'), 'utf8').match(/^\w+/gm);
    expect(rules).toEqual(['local', 'hostssl']);
    expect(composeText).toContain('./infra/docker/pg_hba.conf:/etc/holdfast/pg_hba.conf:ro');
    expect(compose.services.postgres?.command).toContain('hba_file=/etc/holdfast/pg_hba.conf');
  });

  test('gives no container a file system to write to, nor a right of root, but for the run that gives keys away', () => {
    const another = parse(fs.readFileSync(inRepository('infra/docker/another-node.yml'), 'utf8')) as Compose;
    const services = Object.entries({ ...compose.services, ...another.services });
    const open = services.filter(
      ([, { read_only, cap_drop, security_opt }]) =>
        read_only !== true || cap_drop?.join() !== 'ALL' || security_opt?.join() !== 'no-new-privileges:true',
    );
    expect(open.map(([name]) => name)).toEqual([]);
    // Postgres takes a key of its own user only, so this run changes owners. It has no network.
    const more = services.filter(
      ([, { cap_add, user }]) => cap_add !== undefined || /^(0|root)\b/.test(user ?? ''),
    );
    expect(more.map(([name]) => name)).toEqual(['certificates']);
  });

  test.each([1, 2, 3])('node-%i is reached by a network of its own, and has volumes of its own', (number) => {
    const { environment = {}, networks = {}, volumes = [] } = compose.services[`agent-${number}`] ?? {};
    const own = `storage-${number}`;
    const named = Object.entries(networks).filter(([, network]) => network?.aliases !== undefined);
    expect(named).toEqual([[own, { aliases: [`node-${number}`] }]]);
    expect(environment.HOLDFAST_ADVERTISE_HOST).toBe(`node-${number}`);
    expect(environment.HOLDFAST_API_URL).toBe(`http://api.${own}:7400/api/v1`);
    // What is to reach that node has an interface there, and so the APIs do under the name that the node calls.
    for (const name of ['api-1', 'api-2', 'worker-1', 'worker-2', 'agent-1', 'agent-2', 'agent-3']) {
      const of = compose.services[name]?.networks ?? {};
      expect(Array.isArray(of) ? of : Object.keys(of)).toContain(own);
      if (name.startsWith('api-')) expect(of).toMatchObject({ [own]: { aliases: [`api.${own}`] } });
    }
    expect(volumes.map((volume) => volume.split(':')[0])).toEqual(
      ['disks', 'state', 'join'].map((kind) => `agent-${number}-${kind}`),
    );
  });

  test('asks for each of its secrets with a message, where a start without it would go on with an empty one', () => {
    const names = new Set(
      [...composeText.matchAll(/\$\{(HOLDFAST_\w+_PASSWORD)\}/g)].map(([, name]) => name ?? ''),
    );
    expect([...names].sort()).toEqual(Object.keys(PASSWORDS));
    for (const [name, says] of Object.entries(PASSWORDS))
      expect(composeText).toContain(`\${${name}:?${says}}`);
  });

  // Debian's docker-compose reads the file without a daemon.
  (hasCompose ? test : test.skip).each(Object.entries(PASSWORDS))(
    `a start without %s is refused: %s${hasCompose ? '' : ' (left out: docker-compose is not installed)'}`,
    (missing, says) => {
      const given = Object.keys(PASSWORDS).map((name) => [name, name === missing ? '' : 'x'.repeat(20)]);
      const { status, stderr } = spawnSync(
        'docker-compose',
        ['-f', 'docker-compose.yml', 'config', '--quiet'],
        {
          cwd: repositoryRoot,
          env: { PATH: process.env.PATH, ...Object.fromEntries(given) },
          encoding: 'utf8',
        },
      );
      expect(status).not.toBe(0);
      expect(stderr).toContain(says);
    },
  );

  test.each(ownCommands())('$service: $file exists', ({ file }) => {
    expect(fs.existsSync(inRepository(sourceOf(file)))).toBe(true);
  });

  test('its Dockerfile exists and copies nothing that is not there', () => {
    const dockerfile = fs.readFileSync(inRepository('infra/docker/Dockerfile'), 'utf8');
    const scripts = [...dockerfile.matchAll(/node (tools\/\S+|apps\/\S+)/g)].map(([, file]) => file ?? '');
    expect(scripts.length).toBeGreaterThan(0);
    for (const file of [
      ...scripts,
      ...[...dockerfile.matchAll(/"(apps\/\S+\.js)"/g)].map(([, f]) => f ?? ''),
    ]) {
      expect(fs.existsSync(inRepository(sourceOf(file)))).toBe(true);
    }
  });
});

function ownCommands(): { service: string; file: string }[] {
  return Object.entries(compose.services).flatMap(([service, { command = [], healthcheck, build }]) =>
    [...command, ...(healthcheck?.test ?? []), ...(build === undefined ? [] : [build.dockerfile])]
      .filter((word) => /^(apps|infra|packages|tools)\//.test(word))
      .map((file) => ({ service, file })),
  );
}
