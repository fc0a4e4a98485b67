import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readConfig } from './config.js';
import { portPlan } from './port-plan.js';

describe('readConfig', () => {
  test('has the documented defaults', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      console: true,
      agents: 3,
      diskSize: '20Gi',
      blockDiskSize: undefined,
      databaseUrl: undefined,
      redisUrl: undefined,
    });
    expect(config.home).toBe(path.join(config.repositoryRoot, '.holdfast'));
    expect(config.ports.api).toBe(7400);
  });

  test('an empty variable is as good as none', () => {
    expect(readConfig({ HOLDFAST_HOME: '', HOLDFAST_PORT_BASE: '', DATABASE_URL: '' }).ports.api).toBe(7400);
  });

  test.each(['20Gi', '20GiB', '20 GiB', '21474836480'])('a disk size may be written as %p', (size) => {
    const config = readConfig({ HOLDFAST_DISK_SIZE: size, HOLDFAST_BLOCK_DISK_SIZE: size });
    expect(config.diskSize).toBe(size.replace(' ', ''));
    expect(config.blockDiskSize).toBe(config.diskSize);
  });

  test('names every wrong key at once', () => {
    const wrong = {
      HOLDFAST_PORT_BASE: '65500',
      HOLDFAST_CONSOLE: 'maybe',
      HOLDFAST_AGENTS: '-1',
      HOLDFAST_DISK_SIZE: 'big',
      HOLDFAST_BLOCK_DISK_SIZE: 'small',
    };
    for (const key of Object.keys(wrong)) expect(() => readConfig(wrong)).toThrow(new RegExp(key));
  });
});

describe('portPlan', () => {
  test('keeps to its block of 40 ports, and gives each to one listener', () => {
    const plan = portPlan(7400);
    const agents = Array.from({ length: 10 }, (_, index) => plan.agent(index));
    const ports = [
      plan.api,
      plan.console,
      plan.postgres,
      plan.worker,
      ...agents.flatMap(({ control, nbd }) => [control, nbd]),
    ];
    expect(new Set(ports).size).toBe(ports.length);
    expect(Math.max(...ports)).toBeLessThan(7440);
    expect(agents[0]?.nbd).toBe(7420);
  });

  test('has room for ten agents', () => {
    expect(() => portPlan(7400).agent(10)).toThrow(/at most 10/);
  });
});
