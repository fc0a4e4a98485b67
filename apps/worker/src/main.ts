import { startTracing } from '@holdfast/tracing/start-tracing.js';
import 'reflect-metadata';
import { endOnTrouble } from '@holdfast/database/sql/connection-trouble.js';
import { redisTrouble } from '@holdfast/jobs/redis-trouble.js';
import { NestFactory } from '@nestjs/core';
import { readConfig, type WorkerConfig } from './config.js';
import { WorkerModule } from './worker.module.js';

/** Longer than any step but the start of an engine, which may be cut off: it is done again. */
const STOP_TIMEOUT_MS = 8_000;

/** Ends the process with the names of wrong variables, and without a trace: it is for the operator to read. */
function configured(): WorkerConfig {
  try {
    return readConfig(process.env);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

/**
 * Ends the process if Postgres or Redis can never be trusted as configured, or a newer version has taken the database over; one that
 * is only unavailable is waited for.
 */
async function requireTrust({ databaseUrl, redisUrl, redisCaFile }: WorkerConfig): Promise<void> {
  const end = (trouble: string) => {
    console.error(`holdfast: ${trouble}`);
    process.exit(2);
  };
  const ofRedis = redisUrl === undefined ? undefined : await redisTrouble(redisUrl, redisCaFile);
  if (ofRedis !== undefined) end(ofRedis);
  await endOnTrouble(databaseUrl, end);
}

async function main(): Promise<void> {
  const config = configured();
  await requireTrust(config);
  const tracing = await startTracing('holdfast-worker', process.env);
  const app = await NestFactory.createApplicationContext(WorkerModule.register(config), {
    logger: ['error', 'warn'],
    abortOnError: false,
  });
  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    // A worker that is killed loses nothing, so one that can't finish in time may simply end.
    setTimeout(() => process.exit(0), STOP_TIMEOUT_MS).unref();
    app
      .close()
      .then(() => tracing.stop())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error);
          process.exit(1);
        },
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
