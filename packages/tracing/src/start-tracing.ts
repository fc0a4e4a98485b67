/**
 * Turns tracing on where the standard variables name a receiver (`OTEL_EXPORTER_OTLP_ENDPOINT`, or
 * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`). Only then is OpenTelemetry's SDK loaded. Headers, timeouts, sampling and the
 * service's name are as its own variables say.
 */

export type Tracing = {
  /** Sends pending spans. */
  stop(): Promise<void>;
};

/** Longest wait for the receiver at the end of a process. */
const STOP_MS_MAX = 2_000;

/**
 * @param follows Is the span that is under way known to whatever is done within it? It is by AsyncLocalStorage, which makes each
 *   promise of the process dearer. Where not, the span is handed on by hand.
 */
export async function startTracing(
  service: string,
  environment: NodeJS.ProcessEnv,
  { follows = true }: { readonly follows?: boolean } = {},
): Promise<Tracing> {
  if (!isWanted(environment)) return { stop: async () => undefined };
  const { startSdk } = await import('./sdk.js');
  const stop = startSdk(service, environment, { follows });
  return {
    stop: () => Promise.race([stop(), new Promise<void>((end) => setTimeout(end, STOP_MS_MAX).unref())]),
  };
}

function isWanted(environment: NodeJS.ProcessEnv): boolean {
  if (environment.OTEL_SDK_DISABLED === 'true' || environment.OTEL_TRACES_EXPORTER === 'none') return false;
  const named = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  return named !== undefined && named !== '';
}
