import { describe, expect, test } from '@jest/globals';
import { readConfig } from './config.js';

const GOOD = {
  HOLDFAST_API_URL: 'http://127.0.0.1:7400/api/v1/',
  HOLDFAST_AGENT_TOKEN: 'token',
  HOLDFAST_NODE_NAME: 'node-1',
  HOLDFAST_DISKS: '/var/a:/var/b',
  HOLDFAST_DISK_SIZE: '20Gi',
  HOLDFAST_CONTROL_PORT: '7430',
  HOLDFAST_NBD_PORT: '7431',
  HOLDFAST_STATE_DIR: '/var/state',
};

describe('readConfig', () => {
  test('fills in what may be left out', () => {
    expect(readConfig(GOOD)).toMatchObject({
      apiUrl: 'http://127.0.0.1:7400/api/v1',
      zone: null,
      disks: ['/var/a', '/var/b'].map((path) => ({ type: 'filesystem', path, sizeBytes: 20 * 2 ** 30 })),
      bindHost: '127.0.0.1',
      advertiseHost: '127.0.0.1',
      hostVolumesMax: 16,
    });
  });

  test('an empty join token is none, as compose files pass what is not set', () => {
    const file = { HOLDFAST_AGENT_TOKEN_FILE: '/join/token' };
    expect(readConfig({ ...GOOD, HOLDFAST_AGENT_TOKEN: '' }).joinToken).toBeUndefined();
    expect(readConfig({ ...GOOD, ...file, HOLDFAST_AGENT_TOKEN: '' }).joinToken).toEqual({
      file: '/join/token',
    });
  });

  test.each([
    ['1073741824', 2 ** 30],
    ['512Mi', 2 ** 29],
    ['1TiB', 2 ** 40],
  ])('a disk size of %s', (text, bytes) => {
    expect(readConfig({ ...GOOD, HOLDFAST_DISK_SIZE: text }).disks[0]?.sizeBytes).toBe(bytes);
  });

  test.each([
    [undefined, 2 * 2 ** 30],
    ['8Gi', 8 * 2 ** 30],
  ])('block disks beside folders, with a size of %s', (size, sizeBytes) => {
    const blocks = { HOLDFAST_BLOCK_DISKS: '/dev/sdb:/var/c', HOLDFAST_BLOCK_DISK_SIZE: size };
    expect(readConfig({ ...GOOD, ...blocks }).disks.slice(2)).toEqual([
      { type: 'block', path: '/dev/sdb', sizeBytes },
      { type: 'block', path: '/var/c', sizeBytes },
    ]);
  });

  test.each([
    ['HOLDFAST_API_URL', 'nowhere'],
    ['HOLDFAST_NODE_NAME', 'Node 1'],
    ['HOLDFAST_DISKS', 'relative/folder'],
    ['HOLDFAST_BLOCK_DISKS', 'relative/file'],
    ['HOLDFAST_DISK_SIZE', '20 apples'],
    ['HOLDFAST_DISK_SIZE', '0'],
    ['HOLDFAST_CONTROL_PORT', '70000'],
    ['HOLDFAST_STATE_DIR', 'state'],
    ['HOLDFAST_HOST_MAX_VOLUMES', '0'],
  ])('names %s when it is %j', (key, value) => {
    expect(() => readConfig({ ...GOOD, [key]: value })).toThrow(key);
  });

  test('TLS is off by default, and needs its three files when it is not', () => {
    expect(readConfig(GOOD).nbdTls).toEqual({ mode: 'off' });
    const tls = {
      ...GOOD,
      HOLDFAST_NBD_TLS: 'require',
      HOLDFAST_NBD_TLS_CERT: '/tls/cert.pem',
      HOLDFAST_NBD_TLS_KEY: '/tls/key.pem',
      HOLDFAST_NBD_TLS_CA: '/tls/ca.pem',
    };
    expect(readConfig(tls).nbdTls).toEqual({
      mode: 'require',
      files: { certFile: '/tls/cert.pem', keyFile: '/tls/key.pem', caFile: '/tls/ca.pem' },
    });
    expect(() => readConfig({ ...tls, HOLDFAST_NBD_TLS_KEY: undefined })).toThrow(
      'HOLDFAST_NBD_TLS_KEY  a PEM file, needed where HOLDFAST_NBD_TLS is require',
    );
    expect(() => readConfig({ ...tls, HOLDFAST_NBD_TLS_CA: 'ca.pem' })).toThrow('HOLDFAST_NBD_TLS_CA');
    expect(() => readConfig({ ...tls, HOLDFAST_NBD_TLS: 'allow', HOLDFAST_NBD_TLS_KEY: undefined })).toThrow(
      'HOLDFAST_NBD_TLS_KEY',
    );
    expect(() => readConfig({ ...tls, HOLDFAST_NBD_TLS: 'on' })).toThrow('HOLDFAST_NBD_TLS');
  });

  test('lists everything that is wrong at once', () => {
    const bad = { ...GOOD, HOLDFAST_API_URL: undefined, HOLDFAST_NBD_PORT: 'x' };
    expect(() => readConfig(bad)).toThrow(/HOLDFAST_API_URL.*HOLDFAST_NBD_PORT/s);
  });

  test('listening on all addresses needs an advertised address', () => {
    const everywhere = { ...GOOD, HOLDFAST_BIND_HOST: '0.0.0.0' };
    expect(() => readConfig(everywhere)).toThrow('HOLDFAST_ADVERTISE_HOST');
    expect(readConfig({ ...everywhere, HOLDFAST_ADVERTISE_HOST: '10.0.0.7' }).advertiseHost).toBe('10.0.0.7');
  });
});
