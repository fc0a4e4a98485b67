#!/usr/bin/env node
// Prisma's CLI without its download of a native engine: `schema-engine.mjs` beside this file takes that engine's
// place, from npm packages alone. Also no telemetry and no update check, which stall without a network.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

const result = spawnSync(
  process.execPath,
  [require.resolve('prisma/build/index.js'), ...process.argv.slice(2)],
  {
    stdio: 'inherit',
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: fileURLToPath(new URL('./schema-engine.mjs', import.meta.url)),
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      DO_NOT_TRACK: '1',
    },
  },
);
process.exit(result.status ?? 1);
