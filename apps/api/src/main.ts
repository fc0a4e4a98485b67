/**
 * The API process: authenticates, validates, decides with core, writes intent to Postgres, and answers.
 *
 * It holds no state: killed at any moment it loses at most the answers under way, and several may run at once. It does not wait for
 * Postgres to be up; /readyz fails until then. It exits with the reason if it must not use the Postgres, or if a newer version has taken it
 * over.
 */
import './heap-growth.js';
import { endOnTrouble } from '@holdfast/database/sql/connection-trouble.js';
import { startTracing } from '@holdfast/tracing/start-tracing.js';
import { createApp } from './app/app.js';
import { type Config, readConfig } from './config/config.js';

/** Requests under way get this long to finish. Below the ten seconds after which supervisors kill the process. */
const SHUTDOWN_TIMEOUT_MS = 8_000;

const config = configured();
await endOnTrouble(config.databaseSystemUrl, (trouble) => {
  console.error(`holdfast: ${trouble}`);
  process.exit(2);
});
const tracing = await startTracing('holdfast-api', process.env, { follows: false });
const { nest, fastify, draining } = await createApp(config);
await nest.listen(config.port, config.host);
fastify.log.info({ host: config.host, port: config.port }, 'listening');

/** Ends the process with the names of invalid variables, without a stack trace: the operator reads it. */
function configured(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

let stopping = false;
async function stop(signal: NodeJS.Signals): Promise<void> {
  if (stopping) return;
  stopping = true;
  fastify.log.info({ signal }, 'stopping');
  setTimeout(() => process.exit(1), SHUTDOWN_TIMEOUT_MS).unref();
  await draining.begin();
  await nest.close();
  await tracing.stop();
  process.exit(0);
}
process.on('SIGTERM', (signal) => void stop(signal));
process.on('SIGINT', (signal) => void stop(signal));
