#!/usr/bin/env node
// Prisma's CLI without its download of a native engine: `schema-engine.mjs` beside this file takes that engine's
// place, from npm packages alone. Also no telemetry and no update check, which stall without a network.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);

const result = spawnSync(
  process.execPath,
  [require.resolve('prisma/build/index.js'), ...process.argv.slice(2)],
  {
    stdio: 'inherit',
    cwd: path.resolve(here, '..', '..'),
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: path.join(here, 'schema-engine.mjs'),
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      DO_NOT_TRACK: '1',
    },
  },
);
process.exit(result.status ?? 1);
