/** Entry of the agent process. */
import pino from 'pino';
import { Agent } from './agent.js';
import { type AgentConfig, readConfig } from './config.js';

/** A clean stop takes no longer than this; then the process ends all the same. */
const STOP_MAX_MS = 9_500;

async function main(): Promise<void> {
  let config: AgentConfig;
  try {
    config = readConfig(process.env);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
  const log = pino({ name: 'agent', base: { node: config.nodeName } });
  const agent = await Agent.start(config, log);
  log.info({ control: config.controlPort, nbd: config.nbdPort }, 'agent is ready');

  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), STOP_MAX_MS).unref();
    agent.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ error }, 'the stop was not clean');
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
