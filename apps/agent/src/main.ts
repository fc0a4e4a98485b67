/** Entry of the agent process. */
import { isFault, type StorageFault } from '@holdfast/core/model/faults.js';
import { errorSerializers } from '@holdfast/tracing/source-positions.js';
import { traceOfLine } from '@holdfast/tracing/spans.js';
import { startTracing } from '@holdfast/tracing/start-tracing.js';
import pino from 'pino';
import { Agent } from './agent.js';
import { type AgentConfig, readConfig } from './config.js';
import { TlsTunnels } from './tls-tunnels.js';

/** Time limit of a clean stop; after it the process ends all the same. */
const STOP_MAX_MS = 9_500;

type Prepared = { config: AgentConfig; log: pino.Logger; tunnels: TlsTunnels | undefined };

/** Reads and checks the configuration. @throws Error with a text for the operator */
async function prepare(): Promise<Prepared> {
  const config = readConfig(process.env);
  const log = pino({
    name: 'agent',
    base: { node: config.nodeName },
    mixin: traceOfLine,
    serializers: errorSerializers,
  });
  return { config, log, tunnels: await TlsTunnels.prepare(config, log) };
}

async function main(): Promise<void> {
  const { config, log, tunnels } = await prepare().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  });
  const tracing = await startTracing('holdfast-agent', process.env);
  const agent = await Agent.start(config, tunnels, log);
  log.info({ control: config.controlPort, nbd: config.nbdPort }, 'agent is ready');

  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), STOP_MAX_MS).unref();
    const stopped = agent.stop().then(() => tracing.stop());
    stopped.then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the stop was not clean');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

main().catch((error: unknown) => {
  console.error(isFault(error) ? refusal(error) : error);
  process.exit(1);
});

/** An error that the operator can fix, without a stack trace. */
function refusal({ code, message, details }: StorageFault): string {
  return [`${code}: ${message}`, ...(details.cures ?? [])].join('; ');
}
